//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/wal"
)

// writeLog writes a log of so many batches with two entries each.
func writeLog(t *testing.T, batches int) string {
	t.Helper()
	dir := t.TempDir()
	l, err := wal.Open(dir, wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range batches {
		done := make(chan struct{}, 2)
		for range 2 {
			if err := l.Append([]byte("an entry of some length"), waiter{t, done}); err != nil {
				t.Fatal(err)
			}
		}
		<-done
		<-done
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

type waiter struct {
	t    *testing.T
	done chan<- struct{}
}

func (w waiter) Committed(uint64, int64) { w.done <- struct{}{} }
func (w waiter) Failed(err error)        { w.t.Error(err); w.done <- struct{}{} }

// The frames must be those that the log wrote.
func TestReadFrames(t *testing.T) {
	dir := writeLog(t, 4)
	all, err := readFrames(dir)
	if err != nil || len(all) != 8 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
	end := int64(0)
	for i, f := range all {
		if f.seq != uint64(i+1) || f.batch == 0 || f.batch > f.seq || f.at != end || f.data <= f.at {
			t.Errorf("frame %d: %+v", i, f)
		}
		end = f.at + f.size
	}
	if info, err := os.Stat(all[0].path); err != nil || info.Size() != end {
		t.Errorf("the frames end at %d, the segment %v", end, info)
	}
}

// The log must accept the next record, so that its torn part is the only fault.
func TestNextRecordIsValid(t *testing.T) {
	dir := writeLog(t, 3)
	all, _ := readFrames(dir)
	last := all[len(all)-1]
	text, err := os.ReadFile(last.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(last.path, append(text, nextRecord(last, text)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := wal.Verify(dir); err != nil || !report.OK() || report.Torn != nil || report.Last != 7 {
		t.Errorf("%+v, %v", report, err)
	}
}

// The log must recognize every torn record as a crash, and keep all earlier records.
func TestTornRecordsAreRecognized(t *testing.T) {
	ways := map[string]bool{}
	for seed := range uint64(40) {
		dir := writeLog(t, 2)
		all, _ := readFrames(dir)
		last := all[len(all)-1]
		text, _ := os.ReadFile(last.path)
		left := tearRecord(newTestTorture(seed), nextRecord(last, text))
		if err := os.WriteFile(last.path, append(text, left...), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := wal.Verify(dir)
		if err != nil || !report.OK() || report.Torn == nil || report.Last != 4 {
			t.Errorf("seed %d, %x: %+v, %v", seed, left, report, err)
			continue
		}
		ways[report.Torn.Reason] = true
	}
	if len(ways) < 3 {
		t.Errorf("it is torn in one way alone: %v", ways)
	}
}

// Only records that a later batch follows, and that no snapshot contains, are detectable.
func TestDetectableFrames(t *testing.T) {
	all := []frame{{seq: 1, batch: 1}, {seq: 2, batch: 1}, {seq: 3, batch: 3}, {seq: 4, batch: 4}, {seq: 5, batch: 4}}
	for snapshot, want := range map[uint64][]uint64{0: {1, 2, 3}, 2: {3}, 3: nil, 9: nil} {
		var got []uint64
		for _, f := range detectableFrames(all, snapshot) {
			got = append(got, f.seq)
		}
		if len(got) != len(want) || len(got) > 0 && (got[0] != want[0] || got[len(got)-1] != want[len(want)-1]) {
			t.Errorf("after a snapshot at %d: %v, want %v", snapshot, got, want)
		}
	}
	if detectableFrames(nil, 0) != nil {
		t.Error("something of nothing")
	}
}

// Two flips of a bit restore the file.
func TestFlipBit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"acc", "abc"} {
		newTestTorture(1).flipBit(path, 1, 1)
		if text, _ := os.ReadFile(path); string(text) != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// Only writes before the failed fsync count.
func TestUnsyncedBytes(t *testing.T) {
	for trace, want := range map[string]int64{
		"": 0,
		`7 write(9</d/log/1>, "\377WL"..., 512) = 512` + "\n" + `7 fsync(9</d/log/1>) = -1 EIO (Input/output error) (INJECTED)`:                                                   512,
		`7 fsync(9) = -1 EIO (Input/output error) (INJECTED)` + "\n" + `7 write(9, "x", 4) = 4`:                                                                                   0,
		"7 write(9, \"a\"..., 100 <unfinished ...>\n8 fsync(3) = 0\n7 <... write resumed>) = 100\n7 pwrite64(9, \"b\", 5, 100) = 5\n7 fsync(9) = -1 ENOSPC (No space) (INJECTED)": 105,
	} {
		if got := unsyncedBytes(trace); got != want {
			t.Errorf("%d, want %d: %s", got, want, strings.ReplaceAll(trace, "\n", " | "))
		}
	}
}
