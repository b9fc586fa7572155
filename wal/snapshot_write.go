package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"pingpost/internal/durable"
)

// SnapshotRate is the default rate of writing a snapshot, in bytes a second. The disk
// handles one request after another, so the rate determines how many commits wait for a
// piece of a snapshot. Reading the snapshot back uses snapshotReadBackRate, and no read-ahead, so it
// does not delay commits.
const SnapshotRate = 16 << 20

const snapshotReadBackRate = 64 << 20

// blockFill is the payload size at which the writer ends a block. Readers accept blocks of
// any length up to blockData.
const blockFill = PacedPiece

// SnapshotRateOptions configures BeginSnapshot. The zero value is valid.
type SnapshotRateOptions struct {
	BytesPerSecond int64           // 0: SnapshotRate; negative: unlimited
	LiftLimit      <-chan struct{} // closing it removes the limit, for a shutdown without further commits
}

// SnapshotWriter writes a snapshot file while the log keeps growing. A snapshot is a sequence
// of sections of any length; the caller defines their content.
//
// The file has a temporary name until all its bytes have been fsynced, read back from the
// disk and verified. So a file with a snapshot's name is always complete, and a crash leaves
// only a temporary file, which the next writer replaces. A folder may have only one writer at
// a time. A writer is not safe for concurrent use.
type SnapshotWriter struct {
	dir      string
	tmp      string
	f        *os.File
	pace     *throttle
	lift     <-chan struct{} // SnapshotRateOptions.LiftLimit
	readRate int64
	verified *verifiedSnapshotCache
	block    []byte // data of the current block
	out      []byte // encoded block
	index    uint32
	off      int64
	info     SnapshotInfo
	open     bool                    // a section has begun
	ended    bool                    // by Commit or Abort
	remove   func(path string) error // os.Remove, except in tests
	log      *slog.Logger
	err      error
}

// BeginSnapshot begins a snapshot in the folder dir. The caller must end it with Commit
// or Abort.
func BeginSnapshot(dir string, opt SnapshotRateOptions) (*SnapshotWriter, error) {
	writing, reading := opt.BytesPerSecond, opt.BytesPerSecond
	if opt.BytesPerSecond == 0 {
		writing, reading = SnapshotRate, snapshotReadBackRate
	}
	if err := durable.MakeFolder(snapshotDir(dir)); err != nil {
		return nil, fmt.Errorf("cannot create a snapshot: %w", err)
	}
	tmp := filepath.Join(snapshotDir(dir), "next.tmp")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return nil, fmt.Errorf("cannot create a snapshot: %w", err)
	}
	w := &SnapshotWriter{
		dir: dir, tmp: tmp, f: f, readRate: reading, lift: opt.LiftLimit, pace: newThrottle(writing), verified: new(verifiedSnapshotCache),
		block: make([]byte, 0, blockFill), remove: os.Remove, log: slog.New(slog.DiscardHandler),
	}
	w.pace.lift = opt.LiftLimit
	return w, nil
}

// BeginSnapshot begins a snapshot of this log's folder.
func (l *Log) BeginSnapshot(opt SnapshotRateOptions) (*SnapshotWriter, error) {
	w, err := BeginSnapshot(l.dir, opt)
	if err == nil {
		w.verified, w.log = l.verified, l.log
	}
	return w, err
}

// Write adds data to the current section, and begins a section if necessary. It may sleep,
// because it limits the rate of writing. After an error the caller can only call Abort.
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

// EndSection ends the current section. If Write was not called since the last one, the
// section is empty.
func (w *SnapshotWriter) EndSection() error {
	w.writeBlock(kindData, true)
	w.info.Sections++
	w.open = false
	return w.err
}

// Commit finishes the snapshot and makes it durable. Every section contains the effects of
// all entries up to oldest, and of no entry after newest. meta belongs to the caller and has
// at most maxMeta bytes, just under 1 MiB. Commit deletes the snapshots that are older than
// the newest valid earlier one. If that fails, it logs a warning, and the next Commit tries again.
func (w *SnapshotWriter) Commit(oldest, newest uint64, meta []byte) (SnapshotInfo, error) {
	if newest == 0 || oldest > newest || len(meta) > maxMeta {
		w.Abort()
		return SnapshotInfo{}, fmt.Errorf("BUG: invalid snapshot: oldest entry %d, newest entry %d, %d bytes of meta", oldest, newest, len(meta))
	}
	if w.open {
		w.err = errors.Join(w.err, w.EndSection())
	}
	w.info.LastInAllSections, w.info.Newest, w.info.Meta = oldest, newest, meta
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

// publish fsyncs the snapshot, reads it back from the disk to verify it, gives the file its
// final name, and deletes old snapshots.
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
	info, err := verifySnapshot(w.tmp, w.newReadBackThrottle())
	if err != nil {
		return info, fmt.Errorf("cannot verify the written snapshot: %w", err)
	}
	info.Path = snapshotPath(w.dir, newest)
	if err := os.Rename(w.tmp, info.Path); err != nil {
		return info, err
	}
	if err := durable.SyncFolder(snapshotDir(w.dir)); err != nil {
		return info, err
	}
	w.verified.add(newest)
	if err := w.removeOldSnapshots(newest); err != nil {
		w.log.Warn("cannot delete old snapshots; they stay until the next snapshot is written", "error", err)
	}
	return info, nil
}

// newReadBackThrottle returns a throttle that limits the rate at which a written snapshot is
// read back and verified.
func (w *SnapshotWriter) newReadBackThrottle() *throttle {
	p := newThrottle(w.readRate)
	p.lift = w.lift
	return p
}

// Abort gives up the snapshot and removes the temporary file. After Commit it has no effect.
func (w *SnapshotWriter) Abort() {
	if w.ended {
		return
	}
	w.ended, w.err = true, os.ErrClosed
	w.f.Close()
	_ = os.Remove(w.tmp) // on failure, the next writer replaces it
}

// writeBlock writes w.block as one block of the file and waits until the disk has it. It then
// sleeps to keep to the rate. It stores an error in w.err. kind is data or trailer; ends
// marks the last block of a section.
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
	w.pace.countBytesAndSleep(n)
}

// removeOldSnapshots deletes old snapshots. It keeps the one just written, which the next
// start loads, and the newest valid one before it, as a fallback. An invalid snapshot between
// them stays until the next snapshot is written.
func (w *SnapshotWriter) removeOldSnapshots(written uint64) error {
	infos, err := ListSnapshotFiles(w.dir)
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
			if err := w.remove(info.Path); err != nil {
				return err
			}
			removed = true
		}
	}
	if !removed {
		return nil
	}
	return durable.SyncFolder(snapshotDir(w.dir))
}

// isSnapshotFileValid reports whether a snapshot file is valid. It reads the file, unless
// this process has verified it before.
func (w *SnapshotWriter) isSnapshotFileValid(s SnapshotInfo) bool {
	if w.verified.has(s.Newest) {
		return true
	}
	info, err := verifySnapshot(s.Path, w.newReadBackThrottle())
	return err == nil && info.Newest == s.Newest
}

// verifiedSnapshotCache remembers the last two snapshots that this process has verified, by the
// number of their newest entry. Reading them again for each later snapshot would delay a
// shutdown.
type verifiedSnapshotCache struct {
	mu     sync.Mutex
	newest [2]uint64 // 0: unset
}

func (g *verifiedSnapshotCache) add(newest uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if newest != g.newest[1] {
		g.newest = [2]uint64{g.newest[1], newest}
	}
}

func (g *verifiedSnapshotCache) has(newest uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return newest == g.newest[0] || newest == g.newest[1]
}

// QuarantineSnapshots moves invalid snapshots, as found by OpenNewestValidSnapshot, to damage/ and logs
// each as an error. Afterwards the newest snapshot in the folder is a valid one.
func (l *Log) QuarantineSnapshots(bad []BadSnapshot) error {
	for _, b := range bad {
		if errors.Is(b.Err, fs.ErrNotExist) {
			continue // already removed by the process that had the folder before
		}
		kept := filepath.Join(damageDir(l.dir), fmt.Sprintf("%s.%d.bad", filepath.Base(b.Path), l.opt.Now()))
		err := durable.MakeFolder(damageDir(l.dir))
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
