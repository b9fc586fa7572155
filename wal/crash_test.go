package wal

import (
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

// TestCrashLosesNoAcknowledgedEntry appends random batches, simulates a crash that leaves
// any part of the unacknowledged batch, and reopens the folder, many times. The model is a
// list of the appended entries.
func TestCrashLosesNoAcknowledgedEntry(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := must.Value(os.MkdirTemp(t.TempDir(), ""))(rt) //nolint:usetesting // one folder a run of the property, gone with the test
		size := rapid.SampledFrom([]int{1, 200, 1000, 1 << 20}).Draw(rt, "segment size")
		var history []string // the entries of the log
		for range rapid.IntRange(1, 5).Draw(rt, "crashes") {
			var lost []string
			history, lost = crashOnce(t, rt, dir, size, history)
			l, err := Open(dir, Options{SegmentSize: size})
			if err != nil {
				rt.Fatalf("Open after a crash: %v", err)
			}
			seq, _ := l.LastEntry()
			l.Close()
			found := int(seq)
			if found < len(history) {
				rt.Fatalf("%d entries are left of %d acknowledged", found, len(history))
			}
			if found > len(history)+len(lost) {
				rt.Fatalf("%d entries are there, %d were appended", found, len(history)+len(lost))
			}
			history = append(history, lost[:found-len(history)]...)
			got, err := drain(NewReader(dir, 0))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(history) {
				rt.Fatalf("got %q, %v; want %q", got, err, history)
			}
		}
	})
}

// crashOnce appends acknowledged batches, then one whose fsync never returns, and leaves a
// possible result of a crash: any prefix of its bytes, with holes of zeros, and zeros after
// it.
func crashOnce(t *testing.T, rt *rapid.T, dir string, size int, history []string) (acked, lost []string) {
	f := new(fault)
	l, err := Open(dir, Options{SegmentSize: size, Faults: Faults{Sync: f.strike}})
	if err != nil {
		rt.Fatalf("Open: %v", err)
	}
	draw := func() []string {
		batch := make([]string, rapid.IntRange(1, 4).Draw(rt, "entries"))
		for i := range batch {
			batch[i] = rapid.StringN(1, 100, -1).Draw(rt, "entry")
		}
		return batch
	}
	for range rapid.IntRange(0, 4).Draw(rt, "batches") {
		batch := draw()
		putBatch(t, l, batch...)
		history = append(history, batch...)
	}
	var whole publishedLogEnd
	lost = draw()
	if err := l.RunBetweenBatches(func(uint64, int64) {
		whole = l.publishedEnd()
		f.armed.Store(true)
		for _, e := range lost {
			if err := l.Append([]byte(e), nil); err != nil {
				rt.Error(err)
			}
		}
	}); err != nil {
		rt.Fatal(err)
	}
	<-l.Failed()
	l.Close()
	l.writer.log.Close()
	path := livePath(dir, whole.seg)
	b := mustRead(t, path)
	cut := rapid.IntRange(int(whole.off), len(b)).Draw(rt, "cut")
	b = b[:cut]
	if rapid.Bool().Draw(rt, "a hole") && cut > int(whole.off) {
		from := rapid.IntRange(int(whole.off), cut).Draw(rt, "from")
		clear(b[from:rapid.IntRange(from, cut).Draw(rt, "to")])
	}
	b = append(b, make([]byte, rapid.IntRange(0, 100).Draw(rt, "zeros"))...)
	mustWrite(t, path, b)
	return history, lost
}
