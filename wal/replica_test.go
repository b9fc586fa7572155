package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/internal/must"
)

func mustOpenReplica(t *testing.T, dir string, opt Options) *Replica {
	t.Helper()
	r := must.Value(OpenReplica(dir, opt))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

func appendBatch(t *testing.T, r *Replica, at int64, entries ...string) (first uint64, batchTime int64) {
	t.Helper()
	var data [][]byte
	for _, e := range entries {
		data = append(data, []byte(e))
	}
	first, batchTime, err := r.AppendBatch(at, data)
	must.Succeed(t, err)
	return first, batchTime
}

// TestReplicasWithEqualBatchesHaveEqualFiles: three nodes append the same batches, one of them after a
// restart in the middle of a batch. Their segments are equal, byte for byte.
func TestReplicasWithEqualBatchesHaveEqualFiles(t *testing.T) {
	opt := Options{SegmentSize: 1 << 10}
	var files [2]map[string]string
	for i := range files {
		dir := t.TempDir()
		r := mustOpenReplica(t, dir, opt)
		for n := range 50 {
			first, at := appendBatch(t, r, int64(1000-n), fmt.Sprintf("lead %d", n), fmt.Sprintf("bid %d", n), "post")
			if first != uint64(3*n+1) || at != 1000 {
				t.Fatalf("batch %d begins with entry %d at %d, want entry %d at 1000", n, first, at, 3*n+1)
			}
			if i == 1 && n == 30 {
				must.Succeed(t, r.Close())
				r = mustOpenReplica(t, dir, opt)
			}
		}
		must.Succeed(t, r.Close())
		files[i] = map[string]string{}
		for _, s := range must.Value(Segments(dir))(t) {
			files[i][filepath.Base(s.Path)] = string(must.Value(os.ReadFile(s.Path))(t))
		}
		if len(files[i]) < 3 {
			t.Fatalf("%d segments do not test the end of a segment", len(files[i]))
		}
	}
	for name, content := range files[0] {
		if files[1][name] != content {
			t.Errorf("segment %s differs", name)
		}
	}
}

// TestReplicaIsReadableBeforeSync: a reader gets entries at once, and Sync reports those before it.
func TestReplicaIsReadableBeforeSync(t *testing.T) {
	var syncs int
	r := mustOpenReplica(t, t.TempDir(), Options{Faults: Faults{Sync: func() error { syncs++; return nil }}})
	appendBatch(t, r, 7, "lead", "bid")
	reader := must.Value(r.NewReader(1))(t)
	defer reader.Close()
	if e := must.Value(reader.Next())(t); !bytes.Equal(e.Data, []byte("lead")) || e.At != 7 || syncs != 0 {
		t.Errorf("entry %q at %d after %d fsyncs, want lead at 7 after none", e.Data, e.At, syncs)
	}
	if durable := must.Value(r.Sync())(t); durable != 2 || syncs != 1 {
		t.Errorf("entry %d is durable after %d fsyncs, want entry 2 after one", durable, syncs)
	}
}

// TestReplicaAcceptsOnlyBatches: entries of a single node are refused.
func TestReplicaAcceptsOnlyBatches(t *testing.T) {
	r := mustOpenReplica(t, t.TempDir(), Options{})
	if err := r.Append([]byte("lead"), nil); !errors.Is(err, ErrReplica) {
		t.Errorf("Append: %v, want %v", err, ErrReplica)
	}
	if err := r.RunBetweenBatches(func(uint64, int64) {}); !errors.Is(err, ErrReplica) {
		t.Errorf("RunBetweenBatches: %v, want %v", err, ErrReplica)
	}
}

// TestFailedSyncEndsReplica: after a failed fsync, or a failed write, the replica accepts no batch.
func TestFailedSyncEndsReplica(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, faults := range map[string]Faults{
		"fsync": {Sync: func() error { return broken }},
		"write": {Write: func(int) (int, error) { return 0, broken }},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustOpenReplica(t, t.TempDir(), Options{Faults: faults})
			_, _, writeErr := r.AppendBatch(1, [][]byte{[]byte("lead")})
			_, syncErr := r.Sync()
			if err := errors.Join(writeErr, syncErr); !errors.Is(err, broken) {
				t.Errorf("the error is %v, want %v", err, broken)
			}
			select {
			case <-r.Failed():
			default:
				t.Error("Failed is not closed")
			}
			if _, _, err := r.AppendBatch(1, [][]byte{[]byte("lead")}); !errors.Is(err, ErrFailed) {
				t.Errorf("a later batch: %v, want %v", err, ErrFailed)
			}
		})
	}
}

// TestReplicaAfterPowerLoss: bytes since the last Sync are bad, and a later batch follows them. The log ends
// before them, and gets the same bytes when the cluster delivers the batches again. A log that the
// cluster cannot complete stays as it is.
func TestReplicaAfterPowerLoss(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	for _, d := range []string{whole, dir} {
		r := mustOpenReplica(t, d, Options{})
		for n := range 5 {
			appendBatch(t, r, int64(n), fmt.Sprintf("lead %d", n+1))
		}
		must.Succeed(t, r.Close())
	}
	at := records(t, lastPath(t, dir))
	edit(t, lastPath(t, dir), func(b []byte) []byte { clear(b[at[3]:at[4]]); return b })
	before := tree(t, dir)
	if _, err := OpenReplica(dir, Options{MustReach: 4}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a log that the cluster cannot complete: %v, want %v", err, ErrDamaged)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a log of a single node: %v, want %v", err, ErrDamaged)
	}
	equal(t, "files", tree(t, dir), before)
	r := mustOpenReplica(t, dir, Options{MustReach: 3})
	last, _ := r.LastEntry()
	equal(t, "last entry", last, 3)
	appendBatch(t, r, 3, "lead 4")
	appendBatch(t, r, 4, "lead 5")
	must.Succeed(t, r.Close())
	equal(t, "bytes", string(mustRead(t, lastPath(t, dir))), string(mustRead(t, lastPath(t, whole))))
}

// TestReplicaContinuesTornBatch: after a power loss the log ends within a batch. It gets the same bytes when
// the cluster delivers the rest, also if the batch fills several segments.
func TestReplicaContinuesTornBatch(t *testing.T) {
	leads := make([]string, 9)
	for n := range leads {
		leads[n] = fmt.Sprintf("lead %d", n+1)
	}
	opt := Options{SegmentSize: 4 * recordSize(6)}
	whole := t.TempDir()
	r := mustOpenReplica(t, whole, opt)
	appendBatch(t, r, 1, "lead 0")
	appendBatch(t, r, 2, leads...)
	must.Succeed(t, r.Close())
	for known := range leads {
		dir := t.TempDir()
		r := mustOpenReplica(t, dir, opt)
		appendBatch(t, r, 1, "lead 0")
		appendBatch(t, r, 2, leads...)
		must.Succeed(t, r.Close())
		cutAfter(t, dir, uint64(known)+1)
		r = mustOpenReplica(t, dir, opt)
		if known > 0 {
			must.Succeed(t, r.ContinueBatch(2))
		}
		appendBatch(t, r, 2, leads[known:]...)
		must.Succeed(t, r.Close())
		for i, s := range mustSegments(t, whole) {
			equal(t, fmt.Sprintf("bytes of segment %d after entry %d was the last", i+1, known+1), string(mustRead(t, mustSegments(t, dir)[i].Path)), string(mustRead(t, s.Path)))
		}
	}
}

// TestReplicaInNewEpoch: an operator accepted the loss of the end of a batch. The rest is a batch in the new epoch.
func TestReplicaInNewEpoch(t *testing.T) {
	dir := t.TempDir()
	r := mustOpenReplica(t, dir, Options{})
	appendBatch(t, r, 1, "lead 1", "lead 2")
	must.Succeed(t, r.Close())
	cutAfter(t, dir, 1)
	r = mustOpenReplica(t, dir, Options{})
	r.epoch++
	must.Succeed(t, r.ContinueBatch(1))
	appendBatch(t, r, 1, "lead 2")
	must.Succeed(t, r.Close())
	r = mustOpenReplica(t, dir, Options{MustReach: 2})
	last, _ := r.LastEntry()
	equal(t, "last entry", last, 2)
	must.Succeed(t, r.Close())
}

// cutAfter removes all entries of the log after one.
func cutAfter(t *testing.T, dir string, last uint64) {
	t.Helper()
	for _, s := range mustSegments(t, dir) {
		if s.First > last+1 {
			must.Succeed(t, os.Remove(s.Path))
			continue
		}
		if at := records(t, s.Path); uint64(len(at)) > last+1-s.First {
			edit(t, s.Path, func(b []byte) []byte { return b[:at[last+1-s.First]] })
		}
	}
}

// TestDamageBeforeLastSegment: only the last segment of a replica can have bad bytes after a power loss.
func TestDamageBeforeLastSegment(t *testing.T) {
	dir := t.TempDir()
	r := mustOpenReplica(t, dir, Options{SegmentSize: 2 * recordSize(6)})
	for n := range 5 {
		appendBatch(t, r, 1, fmt.Sprintf("lead %d", n+1))
	}
	must.Succeed(t, r.Close())
	edit(t, mustSegments(t, dir)[1].Path, func(b []byte) []byte { clear(b[:10]); return b })
	if _, err := OpenReplica(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged full segment: %v, want %v", err, ErrDamaged)
	}
}

// TestSyncDuringArchiving: the archiver moves all full segments while Sync runs.
func TestSyncDuringArchiving(t *testing.T) {
	dir := t.TempDir()
	var r *Replica
	moved := func() error {
		for n := range 8 {
			appendBatch(t, r, 1, fmt.Sprintf("lead %d", n+1))
		}
		r.RaiseArchiveAndDeletionLimits(100, 0)
		for {
			if _, archived := r.archiver.countSegments(); archived > 1 {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	}
	var calls atomic.Int32
	r = mustOpenReplica(t, dir, Options{SegmentSize: 2 * recordSize(6), Faults: Faults{Sync: func() error {
		if calls.Add(1) == 1 { // in Sync; the others are rotations
			return moved()
		}
		return nil
	}}})
	appendBatch(t, r, 1, "lead 0")
	if durable := must.Value(r.Sync())(t); durable != 1 {
		t.Errorf("entry %d is durable, want 1", durable)
	}
	if durable := must.Value(r.Sync())(t); durable != 9 {
		t.Errorf("entry %d is durable, want 9", durable)
	}
	must.Succeed(t, r.Close())
}
