package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

// model pairs a log with a list of the expected entries.
type model struct {
	dir      string
	opt      Options
	log      *Log
	entries  []string
	oldest   uint64 // first entry that the history must hold
	from     uint64 // first entry of a replay
	follower *Reader
	followed uint64
	clock    int64
}

// TestLogAgreesWithList performs random operations on a log and compares it with a list
// after each step.
func TestLogAgreesWithList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := must.Value(os.MkdirTemp(t.TempDir(), ""))(rt) //nolint:usetesting // one folder a run of the property, gone with the test
		m := &model{dir: dir, oldest: 1, from: 1}
		m.opt = Options{
			SegmentSize: rapid.SampledFrom([]int{1, 150, 600}).Draw(rt, "segment size"),
			MaxBatch:    rapid.IntRange(1, 4).Draw(rt, "batch"),
			reopenAfter: rapid.IntRange(1, 5).Draw(rt, "reopen after"),
			Now:         func() int64 { m.clock++; return m.clock },
		}
		m.open(rt)
		defer func() { m.follower.Close(); m.log.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"append":  func(rt *rapid.T) { m.append(t, rt) },
			"restart": m.restart,
			"archive": m.archive,
			"read":    m.read,
			"follow":  m.follow,
			"look up": m.lookUp,
			"":        m.check,
		})
	})
}

func (m *model) open(rt *rapid.T) {
	opt := m.opt
	opt.From = m.from
	var err error
	if m.log, err = Open(m.dir, opt); err != nil {
		rt.Fatal(err)
	}
	m.followed = m.from - 1
	if m.follower, err = m.log.NewReader(m.from); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) append(t *testing.T, rt *rapid.T) {
	batch := make([]string, rapid.IntRange(1, 6).Draw(rt, "entries"))
	for i := range batch {
		batch[i] = rapid.StringN(1, 80, -1).Draw(rt, "entry")
	}
	putBatch(t, m.log, batch...)
	m.entries = append(m.entries, batch...)
}

func (m *model) restart(rt *rapid.T) {
	m.follower.Close()
	must.Succeed(rt, m.log.Close())
	m.open(rt)
}

// archive releases the segments before a snapshot at a random place, step by step like the
// archiver.
func (m *model) archive(rt *rapid.T) {
	if len(m.entries) == 0 {
		rt.Skip("the log has no entry")
	}
	m.from = max(m.from, uint64(rapid.IntRange(1, len(m.entries)).Draw(rt, "oldest")))
	m.oldest = m.from
	m.log.RaiseArchiveAndDeletionLimits(m.from, rapid.Int64Range(0, m.clock).Draw(rt, "keep after"))
}

func (m *model) read(rt *rapid.T) {
	from := m.from + uint64(rapid.IntRange(0, 10).Draw(rt, "behind"))
	want := []string{}
	if from <= uint64(len(m.entries)) {
		want = m.entries[from-1:]
	}
	for name, open := range map[string]func(uint64) (*Reader, error){
		"of the log":    m.log.NewReader,
		"of the folder": func(from uint64) (*Reader, error) { return NewReader(m.dir, from) },
	} {
		got, err := drain(open(from))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("a reader %s from %d: got %q, %v; want %q", name, from, got, err, want)
		}
	}
}

// lookUp reads one entry, which the archiver may have deleted, and the newest one.
func (m *model) lookUp(rt *rapid.T) {
	last := uint64(len(m.entries))
	for _, seq := range []uint64{uint64(rapid.IntRange(0, len(m.entries)+1).Draw(rt, "entry")), last} {
		e, err := m.log.EntryAt(seq)
		switch {
		case seq == 0 || seq > last:
			if !errors.Is(err, ErrNoEntry) {
				rt.Fatalf("entry %d of %d: %v", seq, last, err)
			}
		case errors.Is(err, ErrGone) && seq < m.oldest:
		case err != nil || e.Seq != seq || string(e.Data) != m.entries[seq-1]:
			rt.Fatalf("entry %d of %d is %d %q, %v", seq, last, e.Seq, e.Data, err)
		}
	}
}

// follow reads some more entries. Its segments may be deleted.
func (m *model) follow(rt *rapid.T) {
	for range rapid.IntRange(1, 5).Draw(rt, "entries") {
		if m.followed == uint64(len(m.entries)) {
			return
		}
		e, err := m.follower.Next()
		switch {
		case errors.Is(err, ErrGone) && m.followed+1 < m.oldest:
			m.follower.Close()
			m.followed = m.from - 1
			if m.follower, err = m.log.NewReader(m.from); err != nil {
				rt.Fatal(err)
			}
		case err != nil && !errors.Is(err, io.EOF):
			rt.Fatalf("following behind %d: %v", m.followed, err)
		case err == nil:
			m.followed++
			if e.Seq != m.followed || string(e.Data) != m.entries[e.Seq-1] {
				rt.Fatalf("got entry %d %q, want %d %q", e.Seq, e.Data, m.followed, m.entries[m.followed-1])
			}
		}
	}
}

func (m *model) check(rt *rapid.T) {
	seq, at := m.log.LastEntry()
	if seq != uint64(len(m.entries)) || at > m.clock {
		rt.Fatalf("entry %d at %d is durable, want %d", seq, at, len(m.entries))
	}
	r, err := Verify(m.dir, nil)
	if err != nil || !r.OK() || r.Torn != nil {
		rt.Fatalf("%+v, %v", r, err)
	}
	if seq > 0 && (r.Last != seq || (r.Entries > 0 && r.First > m.oldest)) {
		rt.Fatalf("the folder has %d to %d, want at most %d to %d", r.First, r.Last, m.oldest, seq)
	}
}
