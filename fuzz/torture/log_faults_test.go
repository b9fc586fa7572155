//go:build linux

package torture

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"pingpost/wal"
)

// logFrame is the place of a record in the log. It knows only as much of the format (wal/doc.go)
// as the faults need.
type logFrame struct {
	path       string // path of the segment
	at, size   int64  // with the length before it
	data       int64  // start of the frame itself
	seq, batch uint64
}

// frameHead is the size of a frame's header; frameSum is the checksum's offset in it.
const (
	frameHead = 40
	frameSum  = 36
)

// readFrames reads the frames of all live segments.
func readFrames(dir string) ([]logFrame, error) {
	segments, err := wal.Segments(dir)
	if err != nil {
		return nil, err
	}
	var all []logFrame
	for _, s := range segments {
		if s.Archived {
			continue
		}
		text, err := os.ReadFile(s.Path)
		if err != nil {
			return nil, err
		}
		some, err := splitFrames(s.Path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// splitFrames returns the frames of a segment up to its end or the first incomplete one.
func splitFrames(path string, text []byte) (all []logFrame, err error) {
	for at := 0; at < len(text); {
		size, n := binary.Uvarint(text[at:])
		if n <= 0 || uint64(len(text)-at-n) < size {
			return all, nil
		}
		if size < frameHead {
			return all, fmt.Errorf("%s: no frame at %d", path, at)
		}
		head := text[at+n:]
		all = append(all, logFrame{
			path: path, at: int64(at), size: int64(n) + int64(size), data: int64(at + n),
			seq: binary.LittleEndian.Uint64(head[8:]), batch: binary.LittleEndian.Uint64(head[16:]),
		})
		at += n + int(size)
	}
	return all, nil
}

// nextRecord returns a valid record that could follow the last one of segment: a copy with the
// next sequence number, in a batch of its own, with a correct checksum.
func nextRecord(last logFrame, segment []byte) (record []byte) {
	next := append([]byte(nil), segment[last.at:last.at+last.size]...)
	head := next[last.data-last.at:]
	binary.LittleEndian.PutUint64(head[8:], last.seq+1)
	binary.LittleEndian.PutUint64(head[16:], last.seq+1)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(head[:frameSum], table), table, head[frameHead:])
	binary.LittleEndian.PutUint32(head[frameSum:], sum)
	return next
}

// tearRecord returns the remains of a record, in one of the ways in which pages may reach a
// disk: its beginning, all of it with a hole, all of it with a flipped bit, zeros, or random
// bytes.
func tearRecord(t *torture, record []byte) (remains []byte) {
	some := 1 + t.random.IntN(len(record)-1)
	switch t.random.IntN(5) {
	case 0:
		return record[:some]
	case 1:
		last := record[len(record)-1]
		clear(record[max(some, frameHead+4):])
		record[len(record)-1] = ^last
		return record
	case 2:
		at := frameHead + 4 + t.random.IntN(len(record)-frameHead-4)
		record[at] ^= 1 << t.random.IntN(8)
		return record
	case 3:
		return make([]byte, some)
	}
	for i := range record {
		record[i] = byte(t.random.Uint64())
	}
	return record[:some]
}

// countFiles returns the number of files in a folder of the data directory.
func countFiles(t *torture, folder string) int {
	entries, _ := os.ReadDir(t.DataDir() + "/" + folder)
	return len(entries)
}

// detectableFrames returns the frames whose damage cannot be mistaken for a crash: a later
// batch follows them. A start does not read records that a snapshot contains.
func detectableFrames(all []logFrame, snapshotSeq uint64) (some []logFrame) {
	if len(all) == 0 {
		return nil
	}
	newest := all[len(all)-1].batch
	for _, f := range all {
		if f.seq > snapshotSeq && f.batch < newest {
			some = append(some, f)
		}
	}
	return some
}

func (t *torture) flipBit(path string, at int64, bit byte) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	t.failOnError(err)
	defer f.Close()
	var one [1]byte
	if _, err = f.ReadAt(one[:], at); err == nil {
		one[0] ^= bit
		_, err = f.WriteAt(one[:], at)
	}
	t.failOnError(err)
}

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
	if report, err := wal.Verify(dir, nil); err != nil || !report.OK() || report.Torn != nil || report.Last != 7 {
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
		left := tearRecord(newTestTorture(t, seed), nextRecord(last, text))
		if err := os.WriteFile(last.path, append(text, left...), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := wal.Verify(dir, nil)
		if err != nil || !report.OK() || report.Torn == nil || report.Last != 4 {
			t.Errorf("seed %d, %x: %+v, %v", seed, left, report, err)
			continue
		}
		ways[report.Torn.Reason] = true
	}
	if len(ways) < 3 {
		t.Errorf("the records were torn in fewer than three ways: %v", ways)
	}
}

// Only records that a later batch follows, and that no snapshot contains, are detectable.
func TestDetectableFrames(t *testing.T) {
	all := []logFrame{{seq: 1, batch: 1}, {seq: 2, batch: 1}, {seq: 3, batch: 3}, {seq: 4, batch: 4}, {seq: 5, batch: 4}}
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
		t.Error("an empty log has detectable frames")
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
