package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// SnapshotRate is how fast a snapshot is written where nothing else is said, in
// bytes a second. The disk takes one thing after the other, so the rate is how many
// commits meet a piece of a snapshot in front of them. Read back it is at readRate, and
// without read-ahead, which is in nobody's way.
const SnapshotRate = 16 << 20

const readRate = 64 << 20

// blockFill is what fills a block. The blocks of a file may be of any length up to
// blockData.
const blockFill = AsidePiece

// SnapshotOptions of CreateSnapshot. The zero value is good.
type SnapshotOptions struct {
	BytesPerSecond int64           // 0: SnapshotRate; negative: no limit
	Hurry          <-chan struct{} // once closed, as fast as it goes: nobody else needs the disk any more
}

// A SnapshotWriter writes a state aside, while the log goes on. What the state looks
// like is its owner's; the file is a sequence of sections, of any length.
//
// The file has a temporary name until every byte of it has been fsynced, read back
// from the disk and found whole. So a file with a snapshot's name is one, and a crash
// leaves nothing but a temporary file, which the next writer replaces. There is at
// most one writer at a time, and one goroutine uses it.
type SnapshotWriter struct {
	dir      string
	tmp      string
	f        *os.File
	pace     *pacer
	quick    <-chan struct{} // SnapshotOptions.Hurry
	readRate int64
	good     *goodSnapshots
	block    []byte // data of the block that is being filled
	out      []byte // a block's bytes
	index    uint32
	off      int64
	info     SnapshotInfo
	open     bool // a section has begun
	ended    bool // by Commit or Abort
	err      error
}

// CreateSnapshot begins a snapshot in the folder dir. It has to end with Commit or
// Abort.
func CreateSnapshot(dir string, opt SnapshotOptions) (*SnapshotWriter, error) {
	writing, reading := opt.BytesPerSecond, opt.BytesPerSecond
	if opt.BytesPerSecond == 0 {
		writing, reading = SnapshotRate, readRate
	}
	if err := makeDir(snapshotDir(dir)); err != nil {
		return nil, fmt.Errorf("cannot create a snapshot: %w", err)
	}
	tmp := filepath.Join(snapshotDir(dir), "next.tmp")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return nil, fmt.Errorf("cannot create a snapshot: %w", err)
	}
	w := &SnapshotWriter{
		dir: dir, tmp: tmp, f: f, readRate: reading, quick: opt.Hurry, pace: newPacer(writing), good: new(goodSnapshots),
		block: make([]byte, 0, blockFill),
	}
	w.pace.hurry = opt.Hurry
	return w, nil
}

// CreateSnapshot begins a snapshot beside this log.
func (l *Log) CreateSnapshot(opt SnapshotOptions) (*SnapshotWriter, error) {
	w, err := CreateSnapshot(l.dir, opt)
	if err == nil {
		w.good = l.good
	}
	return w, err
}

// Write adds to the present section, beginning one where there is none. It is slow
// on purpose. After an error only Abort is left.
func (w *SnapshotWriter) Write(p []byte) (int, error) {
	written := len(p)
	w.open = true
	for len(p) > 0 && w.err == nil {
		if len(w.block) == blockFill {
			w.flush(kindData, false)
		}
		n := min(len(p), blockFill-len(w.block))
		w.block = append(w.block, p[:n]...)
		w.info.Bytes += uint64(n)
		p = p[n:]
	}
	return written - len(p), w.err
}

// EndSection ends the present section; without a Write before, an empty one.
func (w *SnapshotWriter) EndSection() error {
	w.flush(kindData, true)
	w.info.Sections++
	w.open = false
	return w.err
}

// Commit finishes the snapshot: every section has seen the entries up to oldest, and
// none has seen one after newest. meta is the owner's, at most 1 MB. When it returns
// nil the snapshot is on the disk, and of those before it the newest good one is left.
func (w *SnapshotWriter) Commit(oldest, newest uint64, meta []byte) (SnapshotInfo, error) {
	if newest == 0 || oldest > newest || len(meta) > maxMeta {
		w.Abort()
		return SnapshotInfo{}, fmt.Errorf("BUG: a snapshot from stamp %d to %d with %d bytes of meta", oldest, newest, len(meta))
	}
	if w.open {
		w.err = errors.Join(w.err, w.EndSection())
	}
	w.info.Oldest, w.info.Newest, w.info.Meta = oldest, newest, meta
	w.block = appendTrailer(w.block[:0], w.info)
	w.flush(kindTrailer, false)
	info, err := w.publish(newest)
	if err != nil {
		w.Abort()
		return SnapshotInfo{}, fmt.Errorf("cannot write a snapshot: %w", err)
	}
	w.ended, w.err = true, os.ErrClosed
	return info, nil
}

// publish verifies what the disk has, and gives it its name.
func (w *SnapshotWriter) publish(newest uint64) (SnapshotInfo, error) {
	if w.err != nil {
		return SnapshotInfo{}, w.err
	}
	if err := errors.Join(w.f.Sync(), forget(w.f)); err != nil {
		return SnapshotInfo{}, err
	}
	if err := w.f.Close(); err != nil {
		return SnapshotInfo{}, err
	}
	info, err := verifySnapshot(w.tmp, w.reading())
	if err != nil {
		return info, fmt.Errorf("the disk does not give back what was written: %w", err)
	}
	info.Path = snapshotPath(w.dir, newest)
	if err := os.Rename(w.tmp, info.Path); err != nil {
		return info, err
	}
	if err := syncDir(snapshotDir(w.dir)); err != nil {
		return info, err
	}
	w.good.add(newest)
	return info, w.removeOld(newest)
}

// reading is the pace of reading a snapshot back.
func (w *SnapshotWriter) reading() *pacer {
	p := newPacer(w.readRate)
	p.hurry = w.quick
	return p
}

// Abort gives up, and leaves nothing. After Commit it does nothing.
func (w *SnapshotWriter) Abort() {
	if w.ended {
		return
	}
	w.ended, w.err = true, os.ErrClosed
	w.f.Close()
	_ = os.Remove(w.tmp) // where it stays, the next writer replaces it
}

// flush writes the block and waits, for the disk and for its turn.
func (w *SnapshotWriter) flush(kind byte, ends bool) {
	if w.err != nil {
		return
	}
	w.out = appendBlock(w.out[:0], block{kind: kind, ends: ends, index: w.index, payload: w.block})
	w.block = w.block[:0]
	n, err := w.f.Write(w.out)
	if err == nil {
		err = flushRange(w.f, w.off, int64(n))
	}
	w.off += int64(n)
	w.index++
	w.err = err
	w.pace.wait(n)
}
