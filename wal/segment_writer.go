package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"
	"unsafe"

	tidwall "github.com/tidwall/wal"

	"pingpost/internal/durable"
)

// segmentWriter writes the log through the tidwall/wal library. It adds two things: it knows
// in advance when a segment ends, and tests can inject faults.
//
// The committer's goroutine owns it. After any error it calls no method of the library's log
// again, not even Close. Close would fsync once more, and a second fsync after a failed one
// reports success for pages that the kernel has dropped.
type segmentWriter struct {
	dir    string // <dir>/log
	size   int    // bytes at which a segment ends
	faults Faults

	log       tidwallLog
	batch     tidwall.Batch
	seq       uint64 // last entry written
	first     uint64 // first sequence, and so the name, of the last segment
	tail      int    // bytes in the last segment
	rotations int    // rotations since tidwall's log was opened
}

// tidwallLog is the part of the tidwall/wal library that this package uses. It omits Read,
// TruncateFront and TruncateBack on purpose: each loads or rewrites a whole segment under the
// lock that a write needs.
type tidwallLog interface {
	LastIndex() (uint64, error)
	WriteBatch(*tidwall.Batch) error
	Sync() error
	Close() error
}

// openSegmentWriter opens the log in dir with the tidwall/wal library. The last segment must
// be intact. Its first entry is `first`, its size is tail bytes, and the last entry is seq.
func openSegmentWriter(dir string, size int, faults Faults, first, seq uint64, tail int) (*segmentWriter, error) {
	w := &segmentWriter{dir: dir, size: size, faults: faults, seq: seq, first: first, tail: tail}
	if err := w.openTidwallLog(); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *segmentWriter) openTidwallLog() error {
	log, err := tidwall.Open(w.dir, &tidwall.Options{
		NoSync:           true, // the committer calls sync for each batch, and measures it
		SegmentSize:      w.size,
		SegmentCacheSize: 1,
		AllowEmpty:       true,
		NoCopy:           true,
		DirPerms:         dirPerm,
		FilePerms:        filePerm,
	})
	if err != nil {
		return fmt.Errorf("cannot open the log in %q: %w", w.dir, err)
	}
	last, err := log.LastIndex()
	if err != nil {
		return fmt.Errorf("cannot open the log in %q: %w", w.dir, err)
	}
	if last != w.seq {
		return fmt.Errorf("the log in %q ends with entry %d, but the last entry written is %d; let no other program change this folder", w.dir, last, w.seq)
	}
	w.log, w.rotations = log, 0
	return nil
}

// bytesLeft returns the number of bytes until the last segment is full. The record that
// reaches this size ends the segment, so it must be the last of its batch.
func (w *segmentWriter) bytesLeft() int { return w.size - w.tail }

// write appends the batch of records to the last segment. encoded are the same bytes as the
// file will have. full reports that the segment has ended: the records are then durable
// already, and the caller must call rotate before the next write.
func (w *segmentWriter) write(encoded []byte, entries int) (took time.Duration, full bool, err error) {
	start := time.Now()
	full = len(encoded) >= w.bytesLeft()
	if err = w.injectWriteFault(encoded, full); err == nil {
		err = w.log.WriteBatch(&w.batch)
	}
	if err != nil {
		return 0, full, fmt.Errorf("cannot write to log segment %q: %w", w.path(), err)
	}
	w.seq += uint64(entries)
	w.tail += len(encoded)
	return time.Since(start), full, nil
}

// injectWriteFault asks the test's fault functions whether this write should fail. If so, it
// leaves the file as a failing disk would and returns the error.
func (w *segmentWriter) injectWriteFault(encoded []byte, full bool) error {
	if w.faults.Write != nil {
		if n, err := w.faults.Write(len(encoded)); err != nil {
			return w.writeThenFail(encoded[:n], err)
		}
	}
	if full && w.faults.Sync != nil {
		if err := w.faults.Sync(); err != nil {
			return w.writeThenFail(encoded, err)
		}
	}
	return nil
}

func (w *segmentWriter) writeThenFail(partOfBatch []byte, fault error) error {
	f, err := os.OpenFile(w.path(), os.O_WRONLY|os.O_APPEND, filePerm)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(partOfBatch); err != nil {
		return err
	}
	return fault
}

// sync fsyncs the last segment, which makes all written records durable. took is the time
// that it needed.
func (w *segmentWriter) sync() (took time.Duration, err error) {
	start := time.Now()
	if w.faults.Sync != nil {
		err = w.faults.Sync()
	}
	if err == nil {
		err = w.log.Sync()
	}
	if err != nil {
		return 0, fmt.Errorf("cannot fsync log segment %q: %w", w.path(), err)
	}
	return time.Since(start), nil
}

// finishRotation makes the segment current that the library began when the last one was filled, and
// makes the new file's name durable. After reopenAfterRotations rotations it reopens the library's log,
// because that log remembers every segment it has seen.
func (w *segmentWriter) finishRotation(reopenAfterRotations int) error {
	w.first, w.tail = w.seq+1, 0
	w.rotations++
	if log, ok := w.log.(*tidwall.Log); ok {
		reuseSegmentBuffers(log)
	}
	var err error
	if w.faults.SyncDir != nil {
		err = w.faults.SyncDir()
	}
	if err == nil {
		err = durable.SyncFolder(w.dir)
	}
	if err != nil {
		return fmt.Errorf("cannot fsync the log's folder %q: %w", w.dir, err)
	}
	if w.rotations < reopenAfterRotations {
		return nil
	}
	if err := w.close(); err != nil {
		return err
	}
	return w.openTidwallLog()
}

// reuseSegmentBuffers gives the new segment, which is still empty, the memory buffer of the full segment before it. The
// library keeps a copy of a segment in a buffer that starts empty and grows by a quarter each time. That makes garbage of
// five times the segment's size, more than half of all garbage of the program.
//
// The full segment is complete in its file. Without its buffer it is like a segment that the library has evicted from its
// cache. The buffers are private fields, so the function uses reflection. In a version of the library without these
// fields it has no effect.
func reuseSegmentBuffers(log *tidwall.Log) {
	segments := reflect.ValueOf(log).Elem().FieldByName("segments")
	if !segments.IsValid() || segments.Kind() != reflect.Slice || segments.Type().Elem().Kind() != reflect.Pointer || segments.Len() < 2 {
		return
	}
	older, last := segments.Index(segments.Len()-2).Elem(), segments.Index(segments.Len()-1).Elem()
	var buffers [2]struct{ from, to reflect.Value }
	for i, name := range [...]string{"ebuf", "epos"} {
		from, to := older.FieldByName(name), last.FieldByName(name)
		if !from.IsValid() || from.Kind() != reflect.Slice || to.Len() > 0 {
			return
		}
		buffers[i].from, buffers[i].to = from, to
	}
	for _, b := range buffers {
		from, to := b.from, b.to
		from = reflect.NewAt(from.Type(), unsafe.Pointer(from.UnsafeAddr())).Elem()
		to = reflect.NewAt(to.Type(), unsafe.Pointer(to.UnsafeAddr())).Elem()
		to.Set(from.Slice(0, 0))
		from.SetZero()
	}
}

func (w *segmentWriter) close() error {
	if err := w.log.Close(); err != nil {
		return fmt.Errorf("cannot close log segment %q: %w", w.path(), err)
	}
	return nil
}

func (w *segmentWriter) path() string { return filepath.Join(w.dir, segmentName(w.first)) }
