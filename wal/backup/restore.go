package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pingpost/wal"
)

// RestoreOptions of Restore.
type RestoreOptions struct {
	At         Target
	Dir        string // that is to be made; it may be there if it is empty
	Generation int    // 0: the one that fits best
	// Drill makes a copy to look at. The store is left as it is, and the copy is in the
	// life of the original: what goes on is the original, and the copy cannot back up
	// to the same place.
	Drill bool
	// Check, when set, is called with the folder as it stands before it has its name.
	Check func(dir string) error
}

// A Restored says what was restored.
type Restored struct {
	Generation int
	First      uint64 // first entry of the log
	Seq        uint64 // the last one
	At         time.Time
	Epoch      uint32
	Snapshot   uint64 // newest stamp of the snapshot; 0 without one
	Unsigned   bool   // an earlier program wrote the generation, without a sum of its claim
}

// unfinishedSuffix is of a folder that is being restored. Nobody serves it, and
// another restore to the same folder begins it anew.
const unfinishedSuffix = ".restoring"

// Restore makes an exchange's folder as it was at a moment. All is written beside it,
// verified, fsynced and fenced before the folder has its name. With it the log's
// next life begins: the exchange that was backed up can go on no more.
func (r *Repository) Restore(ctx context.Context, opt RestoreOptions) (Restored, error) {
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return Restored{}, err
	}
	if err := isFree(dir); err != nil {
		return Restored{}, err
	}
	keys, err := r.open(ctx)
	if err != nil {
		return Restored{}, err
	}
	p, err := r.plan(ctx, opt.At, opt.Generation)
	if err != nil {
		return Restored{}, err
	}
	if !opt.Drill {
		if err := r.mayBeginLife(ctx); err != nil {
			return Restored{}, fmt.Errorf("cannot restore from %s: %w", r.box.store, err)
		}
	}
	building := dir + unfinishedSuffix
	if err := errors.Join(os.RemoveAll(building), os.MkdirAll(building, 0o700)); err != nil {
		return Restored{}, fmt.Errorf("cannot restore to %q: %w", dir, err)
	}
	done, err := r.build(ctx, building, p, keys, opt)
	if err == nil && opt.Check != nil {
		err = opt.Check(building)
	}
	if err == nil && !opt.Drill {
		done.Epoch, err = r.nextLife(ctx, building, done.Epoch)
	}
	if err == nil {
		err = publish(building, dir)
	}
	if err != nil {
		return done, fmt.Errorf("cannot restore to %q: %w", dir, err)
	}
	return done, nil
}

// isFree sees that nothing is written over, and that the name can be given: an empty
// folder is removed here already, since one that cannot be would fail behind the fence.
func isFree(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot restore to %q: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("cannot restore to %q, which is not empty; move it aside, or name another folder", dir)
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("cannot restore to %q, which cannot be replaced; where it is a mount, name a folder below it: %w", dir, err)
	}
	return nil
}

// build writes everything but the life.
func (r *Repository) build(ctx context.Context, dir string, p *plan, keys map[string][]byte, opt RestoreOptions) (Restored, error) {
	done := Restored{Generation: p.gen.number, Epoch: p.gen.claim.Epoch, Unsigned: p.gen.claim.sum == ""}
	for name, content := range keys {
		if err := writeBeside(dir, keysFolder+"/"+name, content); err != nil {
			return done, err
		}
	}
	for name, manifest := range p.gen.files {
		if err := r.restoreFile(ctx, p, dir, name, manifest); err != nil {
			return done, err
		}
	}
	if p.snapshot != nil {
		info, err := r.restoreSnapshot(ctx, p, dir)
		if err != nil {
			return done, err
		}
		done.Snapshot = info.Newest
	}
	if err := r.restoreLog(ctx, p, dir, &done); err != nil {
		return done, err
	}
	report, err := wal.Verify(dir)
	if err == nil && (!report.OK() || report.Torn != nil || report.Last != p.seq) {
		err = fmt.Errorf("BUG: what was restored up to entry %d does not verify: %+v", p.seq, report)
	}
	return done, err
}

// restoreLog writes the entries up to the target. A run that was trimmed may begin
// inside a batch, with which no log begins.
func (r *Repository) restoreLog(ctx context.Context, p *plan, dir string, done *Restored) error {
	var log *wal.Rebuilder
	err := p.gen.readRun(ctx, p.run, p.seq, func(e *entry) (err error) {
		if log == nil {
			if e.Seq != e.Batch {
				return nil
			}
			if done.First = e.Seq; p.snapshot != nil && e.Seq > p.snapshot.Oldest+1 {
				return fmt.Errorf("the entries from %d on are missing, which the snapshot needs", p.snapshot.Oldest+1)
			}
			if log, err = wal.NewRebuilder(dir, e.Seq); err != nil {
				return err
			}
		}
		done.Seq, done.At = e.Seq, time.Unix(0, e.At).UTC()
		return log.Append(e)
	})
	switch {
	case log == nil && err == nil:
		return ErrNothing
	case err != nil && log != nil:
		log.Abort()
		return err
	case err != nil:
		return err
	}
	return log.Close(done.Epoch)
}

func (r *Repository) restoreSnapshot(ctx context.Context, p *plan, dir string) (info wal.SnapshotInfo, err error) {
	read, write := io.Pipe()
	go func() {
		write.CloseWithError(p.gen.box.readPieces(ctx, snapshotFolder(p.gen.number, p.snapshot.Newest), p.snapshot, write))
	}()
	info, err = wal.PutSnapshot(dir, read)
	return info, errors.Join(err, read.Close())
}

func (r *Repository) restoreFile(ctx context.Context, p *plan, dir, name, manifest string) error {
	if at, _ := path.Split(name); !safeName(name) || !slices.Contains(besides, strings.TrimSuffix(at, "/")) {
		return fmt.Errorf("the backup in %s names a file %q", r.box.store, name)
	}
	folder := genName(p.gen.number) + "/file/" + name
	var whole pieces
	if err := p.gen.getManifest(ctx, manifest, &whole); err != nil {
		return err
	}
	f, err := createBeside(dir, name)
	if err != nil {
		return err
	}
	return errors.Join(p.gen.box.readPieces(ctx, folder, &whole, f), f.Sync(), f.Close(), syncFolder(filepath.Dir(f.Name())))
}

// lives is the highest life that was fenced or begun there, and the highest of these
// that a generation was begun in.
func (r *Repository) lives(ctx context.Context) (newest, claimed uint32, err error) {
	all, err := r.box.generations(ctx)
	if err == nil {
		claimed, err = claimedLife(all)
	}
	if err != nil {
		return 0, 0, err
	}
	fences, err := r.box.fences(ctx)
	if err == nil {
		newest, err = fencedLife(fences)
	}
	return max(newest, claimed), claimed, err
}

// nextLife fences the life that was backed up, and those of other restores.
func (r *Repository) nextLife(ctx context.Context, dir string, epoch uint32) (uint32, error) {
	newest, claimed, err := r.lives(ctx)
	if err != nil {
		return epoch, err
	}
	next, err := wal.NextEpoch(max(epoch, newest))
	if err != nil {
		return epoch, err
	}
	f, err := r.box.raise(ctx, next, claimed, "restore", time.Now())
	if err != nil {
		return epoch, fmt.Errorf("cannot fence the copies that went before: %w", err)
	}
	return f.Epoch, wal.WriteEpoch(dir, f.Epoch)
}

// mayBeginLife checks before anything is written that nextLife can succeed.
func (r *Repository) mayBeginLife(ctx context.Context) error {
	newest, _, err := r.lives(ctx)
	if err == nil {
		_, err = wal.NextEpoch(newest)
	}
	return err
}

// publish gives the folder its name.
func publish(building, dir string) error {
	for _, folder := range []string{keysFolder, "catalogs", "lists", "."} {
		if err := syncFolder(filepath.Join(building, folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(building, dir), syncFolder(filepath.Dir(dir)))
}

func createBeside(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func writeBeside(dir, name string, content []byte) error {
	if !safeName(name) {
		return fmt.Errorf("the backup names a key file %q", name)
	}
	f, err := createBeside(dir, name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close(), syncFolder(filepath.Dir(f.Name())))
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
