package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Rebuild writes a log anew from entries that were read elsewhere, with their
// sequences, batches, times and epochs: every record is the one that was copied. It is
// for folders that hold no log yet. One goroutine uses it.
//
// It writes segments itself and not by way of a Log: that one gives sequences, times
// and epochs, and fsyncs for somebody who waits. Nobody waits here, and what a
// crash leaves half done is begun anew, under a name that nobody serves.
type Rebuild struct {
	dir   string
	size  int // at which a segment ends
	chain chain
	f     *os.File
	w     *bufio.Writer
	tail  int // bytes in the present segment
	buf   []byte
}

// NewRebuild begins a log in dir whose first entry will be number first, from 1 on.
func NewRebuild(dir string, first uint64) (*Rebuild, error) {
	if first == 0 {
		return nil, errors.New("BUG: entries count from 1")
	}
	if err := makeDir(logDir(dir)); err != nil {
		return nil, fmt.Errorf("cannot create %q: %w", logDir(dir), err)
	}
	if there, err := Segments(dir); err != nil || len(there) > 0 {
		return nil, errors.Join(fmt.Errorf("cannot write a log to %q: there is one already", dir), err)
	}
	b := &Rebuild{dir: dir, size: Options{}.withDefaults().SegmentSize, chain: chain{header: header{seq: first - 1}}}
	err := b.begin(first)
	return b, err
}

// Append adds the next entry. The error is that of a disk, or says why the entry does
// not follow from the one before.
func (b *Rebuild) Append(e *Entry) error {
	if b.tail >= b.size && e.Batch == e.Seq {
		if err := errors.Join(b.end(), b.begin(e.Seq)); err != nil {
			return err
		}
	}
	h := header{seq: e.Seq, batch: e.Batch, at: e.At, epoch: e.Epoch}
	if due := b.chain.seq + 1; e.Seq != due {
		return fmt.Errorf("cannot write the log: %w", badFrame(fmt.Sprintf("entry %d stands where %d is due", e.Seq, due)))
	}
	if err := b.chain.follow(h, b.tail == 0); err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	b.buf = AppendRecord(b.buf[:0], e)
	b.tail += len(b.buf)
	if _, err := b.w.Write(b.buf); err != nil {
		return fmt.Errorf("cannot write log segment %q: %w", b.f.Name(), err)
	}
	return nil
}

// Close makes the log durable, in the life epoch: see ReadEpoch.
func (b *Rebuild) Close(epoch uint32) error {
	return errors.Join(b.end(), syncDir(logDir(b.dir)), WriteEpoch(b.dir, max(epoch, b.chain.epoch)))
}

// Abort gives up. The files stay.
func (b *Rebuild) Abort() { b.f.Close() }

func (b *Rebuild) begin(first uint64) (err error) {
	b.f, err = os.OpenFile(livePath(b.dir, first), os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return fmt.Errorf("cannot create log segment: %w", err)
	}
	b.tail, b.w = 0, bufio.NewWriterSize(b.f, 1<<20)
	return nil
}

func (b *Rebuild) end() error {
	if err := errors.Join(b.w.Flush(), b.f.Sync(), b.f.Close()); err != nil {
		return fmt.Errorf("cannot write log segment %q: %w", b.f.Name(), err)
	}
	return nil
}

// CheckSnapshot reads a snapshot file's bytes to their end, and says whether they are
// whole. Path is not set in what it returns.
func CheckSnapshot(r io.Reader) (SnapshotInfo, error) {
	blocks := newBlockReader(r)
	info, err := checkBlocks("", &blocks, newPacer(0))
	if err != nil {
		return info, fmt.Errorf("the snapshot is %w: %w", ErrDamaged, err)
	}
	return info, nil
}

// PutSnapshot adds a snapshot, by the bytes of its file, to a folder that nobody
// serves yet. It is checked and durable before it has a snapshot's name.
func PutSnapshot(dir string, content io.Reader) (SnapshotInfo, error) {
	if err := makeDir(snapshotDir(dir)); err != nil {
		return SnapshotInfo{}, fmt.Errorf("cannot write a snapshot: %w", err)
	}
	f, err := os.CreateTemp(snapshotDir(dir), "*.tmp")
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("cannot write a snapshot: %w", err)
	}
	info, err := CheckSnapshot(io.TeeReader(content, f))
	if err = errors.Join(err, f.Chmod(filePerm), f.Sync(), f.Close()); err == nil {
		info.Path = snapshotPath(dir, info.Newest)
		err = errors.Join(os.Rename(f.Name(), info.Path), syncDir(snapshotDir(dir)))
	}
	if err != nil {
		return info, errors.Join(fmt.Errorf("cannot write a snapshot: %w", err), os.Remove(f.Name()))
	}
	return info, nil
}
