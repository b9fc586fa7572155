package wal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"pingpost/wal"

	"pingpost/internal/must"
)

// sale prints a line when it is durable.
type sale struct{ done chan uint64 }

func (s sale) Committed(seq uint64, _ int64) { s.done <- seq }
func (s sale) Failed(error)                  { close(s.done) }

func Example() {
	dir, _ := os.MkdirTemp("", "log")
	defer os.RemoveAll(dir)
	l, err := wal.Open(dir, wal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lead := range []string{"first lead", "second lead"} {
		s := sale{done: make(chan uint64, 1)}
		if err := l.Append([]byte(lead), s); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("durable as entry", <-s.done)
	}
	l.Close()

	r, err := wal.NewReader(dir, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		fmt.Printf("%d: %s\n", e.Seq, e.Data)
	}
	// Output:
	// durable as entry 1
	// durable as entry 2
	// 2: second lead
}

func ExampleOpenSnapshot() {
	dir, _ := os.MkdirTemp("", "log")
	defer os.RemoveAll(dir)
	w, err := wal.CreateSnapshot(dir, wal.SnapshotOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, shard := range []string{"shard 0 at entry 17", "shard 1 at entry 19"} {
		fmt.Fprint(w, shard)
		w.EndSection()
	}
	if _, err := w.Commit(17, 19, []byte("hash")); err != nil {
		fmt.Println(err)
		return
	}

	s, err := wal.OpenSnapshot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for {
		section, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		b, _ := io.ReadAll(section)
		fmt.Printf("%s\n", b)
	}
	fmt.Println("replay from entry", s.Oldest+1)
	// Output:
	// shard 0 at entry 17
	// shard 1 at entry 19
	// replay from entry 18
}

// A package that must not import this one declares the same types.
type logPort interface {
	Append(data []byte, w interface {
		Committed(seq uint64, at int64)
		Failed(err error)
	}) error
	Durable() (seq uint64, at int64)
	Do(f func(seq uint64, at int64)) error
	Failed() <-chan struct{}
	Err() error
}

var _ logPort = (*wal.Log)(nil)

func TestRestartReplaysAfterSnapshot(t *testing.T) {
	dir := t.TempDir()
	l := must.Value(wal.Open(dir, wal.Options{SegmentSize: 200}))(t)
	sum := func(upTo uint64) (total uint64) {
		for n := range upTo {
			total += n + 1
		}
		return total
	}
	for n := 1; n <= 40; n++ {
		s := sale{done: make(chan uint64, 1)}
		must.Succeed(t, l.Append([]byte{byte(n)}, s))
		<-s.done
		if n%10 == 0 {
			w := must.Value(l.CreateSnapshot(wal.SnapshotOptions{BytesPerSecond: -1}))(t)
			fmt.Fprint(w, sum(uint64(n)))
			must.Value(w.Commit(uint64(n), uint64(n), nil))(t)
			l.RaiseArchiveBounds(uint64(n)+1, 0)
		}
	}
	must.Succeed(t, l.Close())
	for range 2 { // from the newest snapshot, then from the one before
		s := must.Value(wal.OpenSnapshot(dir))(t)
		var state uint64
		section := must.Value(s.Next())(t)
		fmt.Fscan(section, &state)
		s.Close()
		l := must.Value(wal.Open(dir, wal.Options{From: s.Oldest + 1, AtLeast: s.Newest, SegmentSize: 200}))(t)
		f := must.Value(l.Follow(s.Oldest+1, 0))(t)
		for seq, _ := l.Durable(); s.Oldest < seq; s.Oldest++ {
			e := must.Value(f.Next(context.Background()))(t)
			state += uint64(e.Data[0])
		}
		f.Close()
		if state != sum(40) {
			t.Errorf("the state is %d, want %d", state, sum(40))
		}
		must.Succeed(t, l.Close())
		must.Succeed(t, os.Remove(s.Path))
	}
}
