package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// SnapshotRate is the default rate of writing a snapshot, in bytes a second. The disk
// handles one request after another, so the rate determines how many commits wait for a
// piece of a snapshot. Reading the snapshot back uses readRate, and no read-ahead, so it
// does not delay commits.
const SnapshotRate = 16 << 20

const readRate = 64 << 20

// blockFill is the payload size at which the writer ends a block. Readers accept blocks of
// any length up to blockData.
const blockFill = PacedPiece

// SnapshotOptions configures CreateSnapshot. The zero value is valid.
type SnapshotOptions struct {
	BytesPerSecond int64           // 0: SnapshotRate; negative: unlimited
	LiftLimit      <-chan struct{} // closing it removes the limit, for a shutdown without further commits
}

// SnapshotWriter writes a snapshot file while the log keeps growing. A snapshot is a
// sequence of sections of any length; the caller defines their content.
//
// The file has a temporary name until all its bytes have been fsynced, read back from the
// disk and verified. So a file with a snapshot's name is always complete, and a crash
// leaves only a temporary file, which the next writer replaces. At most one writer exists
// at a time. It is not safe for concurrent use.
type SnapshotWriter struct {
	dir      string
	tmp      string
	f        *os.File
	pace     *throttle
	lift     <-chan struct{} // SnapshotOptions.LiftLimit
	readRate int64
	verified *verifiedSnapshots
	block    []byte // data of the current block
	out      []byte // encoded block
	index    uint32
	off      int64
	info     SnapshotInfo
	open     bool // a section has begun
	ended    bool // by Commit or Abort
	err      error
}

// CreateSnapshot begins a snapshot in the folder dir. The caller must end it with Commit
// or Abort.
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
		dir: dir, tmp: tmp, f: f, readRate: reading, lift: opt.LiftLimit, pace: newThrottle(writing), verified: new(verifiedSnapshots),
		block: make([]byte, 0, blockFill),
	}
	w.pace.lift = opt.LiftLimit
	return w, nil
}

// CreateSnapshot begins a snapshot of this log's folder.
func (l *Log) CreateSnapshot(opt SnapshotOptions) (*SnapshotWriter, error) {
	w, err := CreateSnapshot(l.dir, opt)
	if err == nil {
		w.verified = l.verified
	}
	return w, err
}

// Write adds data to the current section, and begins a section if necessary. It waits to
// keep to the rate. After an error the caller can only call Abort.
func (w *SnapshotWriter) Write(p []byte) (int, error) {
	written := len(p)
	w.open = true
	for len(p) > 0 && w.err == nil {
		if len(w.block) == blockFill {
			w.writeBlock(kindData, false)
		}
		n := min(len(p), blockFill-len(w.block))
		w.block = append(w.block, p[:n]...)
		w.info.Bytes += uint64(n)
		p = p[n:]
	}
	return written - len(p), w.err
}

// EndSection ends the current section; without a Write before, the section is empty.
func (w *SnapshotWriter) EndSection() error {
	w.writeBlock(kindData, true)
	w.info.Sections++
	w.open = false
	return w.err
}

// Commit finishes the snapshot: every section contains the entries up to oldest, and no
// section contains one after newest. meta belongs to the caller and has at most 1 MB. When
// Commit returns nil, the snapshot is durable, and of the earlier snapshots only the newest
// valid one remains.
func (w *SnapshotWriter) Commit(oldest, newest uint64, meta []byte) (SnapshotInfo, error) {
	if newest == 0 || oldest > newest || len(meta) > maxMeta {
		w.Abort()
		return SnapshotInfo{}, fmt.Errorf("BUG: invalid snapshot: oldest stamp %d, newest stamp %d, %d bytes of meta", oldest, newest, len(meta))
	}
	if w.open {
		w.err = errors.Join(w.err, w.EndSection())
	}
	w.info.Oldest, w.info.Newest, w.info.Meta = oldest, newest, meta
	w.block = appendTrailer(w.block[:0], w.info)
	w.writeBlock(kindTrailer, false)
	info, err := w.publish(newest)
	if err != nil {
		w.Abort()
		return SnapshotInfo{}, fmt.Errorf("cannot write a snapshot: %w", err)
	}
	w.ended, w.err = true, os.ErrClosed
	return info, nil
}

// publish verifies the file as read back from the disk, and renames it.
func (w *SnapshotWriter) publish(newest uint64) (SnapshotInfo, error) {
	if w.err != nil {
		return SnapshotInfo{}, w.err
	}
	if err := errors.Join(w.f.Sync(), dropCache(w.f)); err != nil {
		return SnapshotInfo{}, err
	}
	if err := w.f.Close(); err != nil {
		return SnapshotInfo{}, err
	}
	info, err := verifySnapshot(w.tmp, w.throttleForReadBack())
	if err != nil {
		return info, fmt.Errorf("cannot verify the written snapshot: %w", err)
	}
	info.Path = snapshotPath(w.dir, newest)
	if err := os.Rename(w.tmp, info.Path); err != nil {
		return info, err
	}
	if err := syncDir(snapshotDir(w.dir)); err != nil {
		return info, err
	}
	w.verified.add(newest)
	return info, w.removeOldSnapshots(newest)
}

// throttleForReadBack returns the throttle for reading a snapshot back.
func (w *SnapshotWriter) throttleForReadBack() *throttle {
	p := newThrottle(w.readRate)
	p.lift = w.lift
	return p
}

// Abort stops and removes the temporary file. After Commit it does nothing.
func (w *SnapshotWriter) Abort() {
	if w.ended {
		return
	}
	w.ended, w.err = true, os.ErrClosed
	w.f.Close()
	_ = os.Remove(w.tmp) // on failure, the next writer replaces it
}

// writeBlock writes the block, waits until the disk has it, and waits to keep to the rate.
func (w *SnapshotWriter) writeBlock(kind byte, ends bool) {
	if w.err != nil {
		return
	}
	w.out = appendBlock(w.out[:0], snapshotBlock{kind: kind, ends: ends, index: w.index, payload: w.block})
	w.block = w.block[:0]
	n, err := w.f.Write(w.out)
	if err == nil {
		err = flushRange(w.f, w.off, int64(n))
	}
	w.off += int64(n)
	w.index++
	w.err = err
	w.pace.waitForBytes(n)
}

// removeOldSnapshots deletes old snapshots. It keeps the one just written, which the next start
// loads, and the newest valid one before it, the fallback. An invalid one between them is
// not a fallback; it stays until QuarantineSnapshots moves it.
func (w *SnapshotWriter) removeOldSnapshots(written uint64) error {
	infos, err := Snapshots(w.dir)
	if err != nil {
		return err
	}
	fallback, removed := false, false
	for _, info := range infos {
		switch {
		case info.Newest == written:
		case !fallback:
			fallback = w.isSnapshotFileValid(info)
		default:
			if err := os.Remove(info.Path); err != nil {
				return err
			}
			removed = true
		}
	}
	if !removed {
		return nil
	}
	return syncDir(snapshotDir(w.dir))
}

// isSnapshotFileValid reports whether the snapshot verifies. It does not read a snapshot that this
// process has verified before.
func (w *SnapshotWriter) isSnapshotFileValid(s SnapshotInfo) bool {
	if w.verified.has(s.Newest) {
		return true
	}
	info, err := verifySnapshot(s.Path, w.throttleForReadBack())
	return err == nil && info.Newest == s.Newest
}

// verifiedSnapshots holds the newest stamps of the last two snapshots that this process
// has verified. Reading them again for each later snapshot would delay a shutdown.
type verifiedSnapshots struct {
	mu     sync.Mutex
	newest [2]uint64 // 0: unset
}

func (g *verifiedSnapshots) add(newest uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if newest != g.newest[1] {
		g.newest = [2]uint64{g.newest[1], newest}
	}
}

func (g *verifiedSnapshots) has(newest uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return newest == g.newest[0] || newest == g.newest[1]
}

// QuarantineSnapshots moves snapshots that did not verify to damage/, and logs each as an
// error. Afterwards the snapshot folder holds only valid snapshots again.
func (l *Log) QuarantineSnapshots(bad []BadSnapshot) error {
	for _, b := range bad {
		if errors.Is(b.Err, fs.ErrNotExist) {
			continue // already removed by the process that had the folder before
		}
		kept := filepath.Join(damageDir(l.dir), fmt.Sprintf("%s.%d.bad", filepath.Base(b.Path), l.opt.Now()))
		err := makeDir(damageDir(l.dir))
		if err == nil {
			err = moveFile(b.Path, kept)
		}
		if err != nil {
			return fmt.Errorf("cannot move an invalid snapshot to damage/: %w", err)
		}
		l.log.Error("moved an invalid snapshot to damage/", "reason", b.Err, "kept", kept)
	}
	return nil
}
