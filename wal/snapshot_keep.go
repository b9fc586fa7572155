package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// removeOld keeps the snapshot just written, to load, and of the others the newest
// good one, to fall back on. What stands before that one goes. A bad one in between
// is no fallback and does not count; it stays for SetAside.
func (w *SnapshotWriter) removeOld(written uint64) error {
	infos, err := Snapshots(w.dir)
	if err != nil {
		return err
	}
	fallback, removed := false, false
	for _, info := range infos {
		switch {
		case info.Newest == written:
		case !fallback:
			fallback = w.verifies(info)
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

// verifies reads the snapshot, where nobody of this process has yet.
func (w *SnapshotWriter) verifies(s SnapshotInfo) bool {
	if w.good.has(s.Newest) {
		return true
	}
	info, err := verifySnapshot(s.Path, w.reading())
	return err == nil && info.Newest == s.Newest
}

// goodSnapshots are the two newest that this process has seen verify, by their
// newest stamp. To read them again for each further one would make a stop longer.
type goodSnapshots struct {
	mu     sync.Mutex
	newest [2]uint64 // 0: none
}

func (g *goodSnapshots) add(newest uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if newest != g.newest[1] {
		g.newest = [2]uint64{g.newest[1], newest}
	}
}

func (g *goodSnapshots) has(newest uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return newest == g.newest[0] || newest == g.newest[1]
}

// SetAside moves snapshots that did not verify to damage/, and tells each as an
// error. What was a snapshot's name then is one again.
func (l *Log) SetAside(bad []BadSnapshot) error {
	for _, b := range bad {
		if errors.Is(b.Err, fs.ErrNotExist) {
			continue // an older one, removed by whoever had the folder before
		}
		kept := filepath.Join(damageDir(l.dir), fmt.Sprintf("%s.%d.bad", filepath.Base(b.Path), l.opt.Now()))
		err := makeDir(damageDir(l.dir))
		if err == nil {
			err = moveFile(b.Path, kept)
		}
		if err != nil {
			return fmt.Errorf("cannot set aside a snapshot that does not verify: %w", err)
		}
		l.log.Error("a snapshot does not verify and was set aside", "reason", b.Err, "kept", kept)
	}
	return nil
}
