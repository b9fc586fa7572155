package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"pingpost/internal/durable"
)

// Rebuilder writes a log from the entries of another log, for example of a backup. Each
// record is an exact copy, with its number, batch, time and epoch. The folder must not
// contain a log. A Rebuilder is not safe for concurrent use.
//
// It writes segments itself instead of using a Log, because a Log assigns numbers, times and
// epochs, and fsyncs for waiters. A rebuild has no waiters: after a crash it starts again, in
// a folder that no process serves.
type Rebuilder struct {
	dir   string
	size  int // bytes at which a segment ends
	chain frameOrderChecker
	f     *os.File
	w     *bufio.Writer
	tail  int // bytes in the current segment
	buf   []byte
}

// NewRebuilder begins a log in dir whose first entry has the number `first`, which is 1 or
// more.
func NewRebuilder(dir string, first uint64) (*Rebuilder, error) {
	if first == 0 {
		return nil, errors.New("BUG: the first entry of a log has number 1 or more")
	}
	if err := durable.MakeFolder(logDir(dir)); err != nil {
		return nil, fmt.Errorf("cannot create %q: %w", logDir(dir), err)
	}
	there, err := Segments(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot rebuild a log in %q: %w", dir, err)
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("cannot rebuild a log in %q, because this needs a folder without a log", dir)
	}
	b := &Rebuilder{dir: dir, size: Options{}.withDefaults().SegmentSize, chain: frameOrderChecker{frameHeader: frameHeader{seq: first - 1}}}
	err = b.startSegment(first)
	return b, err
}

// Append adds the next entry to the log. The error is an I/O error, or the reason why the
// entry does not follow from the one before.
func (b *Rebuilder) Append(e *Entry) error {
	if b.tail >= b.size && e.Batch == e.Seq {
		if err := errors.Join(b.finishSegment(), b.startSegment(e.Seq)); err != nil {
			return err
		}
	}
	h := frameHeader{seq: e.Seq, batch: e.Batch, at: e.At, epoch: e.Epoch}
	if due := b.chain.seq + 1; e.Seq != due {
		return fmt.Errorf("cannot write the log: %w", invalidFrameError(fmt.Sprintf("found entry %d, expected entry %d", e.Seq, due)))
	}
	if err := b.chain.checkNext(h, b.tail == 0); err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	b.buf = AppendRecord(b.buf[:0], e)
	b.tail += len(b.buf)
	if _, err := b.w.Write(b.buf); err != nil {
		return fmt.Errorf("cannot write log segment %q: %w", b.f.Name(), err)
	}
	return nil
}

// Close makes the log durable and sets its epoch: to epoch, or to the last entry's epoch if
// that is higher.
func (b *Rebuilder) Close(epoch uint32) error {
	return errors.Join(b.finishSegment(), durable.SyncFolder(logDir(b.dir)), WriteEpoch(b.dir, max(epoch, b.chain.epoch)))
}

// Abort stops the rebuild. It leaves the files, which the caller removes.
func (b *Rebuilder) Abort() { b.f.Close() }

func (b *Rebuilder) startSegment(first uint64) (err error) {
	b.f, err = os.OpenFile(livePath(b.dir, first), os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return fmt.Errorf("cannot create log segment: %w", err)
	}
	b.tail, b.w = 0, bufio.NewWriterSize(b.f, 1<<20)
	return nil
}

func (b *Rebuilder) finishSegment() error {
	if err := errors.Join(b.w.Flush(), b.f.Sync(), b.f.Close()); err != nil {
		return fmt.Errorf("cannot write log segment %q: %w", b.f.Name(), err)
	}
	return nil
}

// CheckSnapshot verifies a snapshot by reading all bytes of its file from r. The result's
// Path is empty. The error wraps ErrDamaged if the snapshot is damaged, but not if r returns an error.
func CheckSnapshot(r io.Reader) (SnapshotInfo, error) {
	source := &failureRecordingReader{r: r}
	blocks := newBlockReader(source)
	info, err := checkBlocks("", &blocks, newThrottle(0))
	if source.err != nil {
		return info, fmt.Errorf("cannot read the snapshot to its end: %w", source.err)
	}
	if err != nil {
		return info, fmt.Errorf("the snapshot is %w: %w", ErrDamaged, err)
	}
	return info, nil
}

// failureRecordingReader reads from r, and records the error by which reading failed. io.EOF is the
// end and no failure.
type failureRecordingReader struct {
	r   io.Reader
	err error
}

func (f *failureRecordingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// PutSnapshot copies a snapshot file from content into a folder that no process serves yet.
// It verifies and fsyncs the file before the file gets a snapshot's name.
func PutSnapshot(dir string, content io.Reader) (SnapshotInfo, error) {
	if err := durable.MakeFolder(snapshotDir(dir)); err != nil {
		return SnapshotInfo{}, fmt.Errorf("cannot store the copied snapshot: %w", err)
	}
	f, err := os.CreateTemp(snapshotDir(dir), "*.tmp")
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("cannot store the copied snapshot: %w", err)
	}
	info, err := CheckSnapshot(io.TeeReader(content, f))
	if err = errors.Join(err, f.Chmod(filePerm), f.Sync(), f.Close()); err == nil {
		info.Path = snapshotPath(dir, info.Newest)
		err = errors.Join(os.Rename(f.Name(), info.Path), durable.SyncFolder(snapshotDir(dir)))
	}
	if err != nil {
		return info, errors.Join(fmt.Errorf("cannot store the copied snapshot: %w", err), os.Remove(f.Name()))
	}
	return info, nil
}
