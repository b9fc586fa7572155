package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pingpost/internal/durable"
	"pingpost/wal"
)

// RestoreOptions tells Restore which moment to restore, from which generation, and to which
// folder.
type RestoreOptions struct {
	At         RestorePoint
	Dir        string // folder to create; it may exist if it is empty
	Generation int    // 0: the best one
	// Drill makes a copy for inspection. It does not change the store, and the copy is in
	// the life of the original, which continues. Never serve such a copy: it cannot back up
	// to the same place once the original has shipped later entries, but until then it can.
	Drill bool
	// Check, if set, is called with the folder before it gets its final name.
	Check func(dir string) error
}

// RestoreResult describes the folder that Restore created.
type RestoreResult struct {
	Generation int
	First      uint64 // first entry of the log
	Seq        uint64 // last entry of the log
	At         time.Time
	Epoch      uint32
	Snapshot   uint64 // newest entry in the restored snapshot; 0 without one
	Unsigned   bool   // an earlier version wrote the generation, so its claim has no sum
}

// temporarySuffix ends the name of a folder that is being restored. The exchange does
// not serve it, and another restore to the same folder starts over.
const temporarySuffix = ".restoring"

// Restore creates an exchange's folder as it was at opt.At. It writes and verifies the folder
// under a temporary name, fences older copies of the exchange, and then renames it. The
// restored log begins the next life (epoch). The exchange that was backed up can therefore no
// longer ship to this store. With opt.Drill, it creates no fence and begins no new life.
func (r *Repository) Restore(ctx context.Context, opt RestoreOptions) (RestoreResult, error) {
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return RestoreResult{}, err
	}
	if err := removeEmptyTarget(dir); err != nil {
		return RestoreResult{}, err
	}
	keys, err := r.readKeyFilesAndSetSumKey(ctx)
	if err != nil {
		return RestoreResult{}, err
	}
	p, err := r.planRestore(ctx, opt.At, opt.Generation)
	if err != nil {
		return RestoreResult{}, err
	}
	if !opt.Drill { // checks now, before anything is written, that a next life can begin
		if _, _, err := r.nextEpochAfter(ctx, 0); err != nil {
			return RestoreResult{}, fmt.Errorf("cannot restore from %s: %w", r.box.store, err)
		}
	}
	building := dir + temporarySuffix
	if err := errors.Join(os.RemoveAll(building), durable.MakeFolder(building)); err != nil {
		return RestoreResult{}, fmt.Errorf("cannot restore to %q: %w", dir, err)
	}
	done, err := r.writeRestoredFolder(ctx, building, p, keys)
	if err == nil && opt.Check != nil {
		err = opt.Check(building)
	}
	if err == nil && !opt.Drill {
		done.Epoch, err = r.fenceAndWriteNextEpoch(ctx, building, done.Epoch)
	}
	if err == nil {
		err = renameRestoredFolder(building, dir)
	}
	if err != nil {
		return done, fmt.Errorf("cannot restore to %q: %w", dir, err)
	}
	return done, nil
}

// removeEmptyTarget returns an error if the target folder has content or cannot be replaced.
// It removes an empty folder before the restore fences the old exchange. A failure after that
// would be too late.
func removeEmptyTarget(dir string) error {
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
		return fmt.Errorf("cannot restore to %q, which cannot be replaced; if it is a mount point, name a folder below it: %w", dir, err)
	}
	return nil
}

// writeRestoredFolder writes the key files, catalogs, lists, snapshot and log of a restore to
// dir, and verifies the log. The log keeps the life (epoch) of the generation.
func (r *Repository) writeRestoredFolder(ctx context.Context, dir string, p *restorePlan, keys map[string][]byte) (RestoreResult, error) {
	done := RestoreResult{Generation: p.gen.number, Epoch: p.gen.claim.Epoch, Unsigned: p.gen.claim.sum == ""}
	for name, content := range keys {
		if err := writeRestoredKeyFile(dir, keysFolder+"/"+name, content); err != nil {
			return done, err
		}
	}
	for name, manifest := range p.gen.files {
		if err := r.restoreConfigDocumentOrList(ctx, p, dir, name, manifest); err != nil {
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
	report, err := wal.Verify(dir, nil)
	if err == nil && (!report.OK() || report.Torn != nil || report.Last != p.seq) {
		err = fmt.Errorf("BUG: the restored log up to entry %d does not verify: %+v", p.seq, report)
	}
	return done, err
}

// restoreLog writes the log entries from the backup to dir, up to the target entry. The run
// may begin inside a batch, because old objects are removed. restoreLog then skips to the
// next batch, because a log must begin with a whole batch.
func (r *Repository) restoreLog(ctx context.Context, p *restorePlan, dir string, done *RestoreResult) error {
	var log *wal.Rebuilder
	err := p.gen.readEntries(ctx, p.run, p.seq, func(e *wal.Entry) (err error) {
		if log == nil {
			if e.Seq != e.Batch {
				return nil
			}
			if done.First = e.Seq; p.snapshot != nil && e.Seq > p.snapshot.Oldest+1 {
				return fmt.Errorf("the backup's snapshot needs the log entries from %d on, but they are missing; choose another moment or generation", p.snapshot.Oldest+1)
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

func (r *Repository) restoreSnapshot(ctx context.Context, p *restorePlan, dir string) (info wal.SnapshotInfo, err error) {
	read := p.gen.openPieces(ctx, snapshotFolder(p.gen.number, p.snapshot.Newest), p.snapshot)
	info, err = wal.PutSnapshot(dir, read)
	return info, errors.Join(err, read.Close())
}

func (r *Repository) restoreConfigDocumentOrList(ctx context.Context, p *restorePlan, dir, fileName, manifestName string) error {
	if at, _ := path.Split(fileName); !staysInsideFolder(fileName) || !slices.Contains(fileFolders, strings.TrimSuffix(at, "/")) {
		return fmt.Errorf("the backup in %s names a file %q, which is not in catalogs/ or lists/ (was the backup changed?)", r.box.store, fileName)
	}
	folder := generationFolder(p.gen.number) + "/file/" + fileName
	var whole pieceManifest
	if err := p.gen.getManifestSignedLikeClaim(ctx, manifestName, &whole); err != nil {
		return err
	}
	f, err := createNewFile(dir, fileName)
	if err != nil {
		return err
	}
	return errors.Join(p.gen.box.copyPieces(ctx, folder, &whole, f), f.Sync(), f.Close(), durable.SyncFolder(filepath.Dir(f.Name())))
}

// nextEpochAfter returns the life (log epoch) that follows `after` and all lives in the store. It
// also returns the generations that it read to find out. It returns an error if a claim or
// fence is unreadable, or if there is no later life.
func (r *Repository) nextEpochAfter(ctx context.Context, after uint32) (next uint32, generations []*backupGeneration, err error) {
	if generations, err = r.box.readGenerations(ctx); err != nil {
		return 0, nil, err
	}
	fences, err := r.box.readAllFences(ctx)
	if err != nil {
		return 0, nil, err
	}
	highest, err := highestEpoch(fences, generations)
	if err == nil {
		next, err = wal.NextEpoch(max(after, highest))
	}
	return next, generations, err
}

// fenceAndWriteNextEpoch creates a fence with the next life (log epoch) in the store and
// writes this epoch to dir. From then on, the backed-up exchange and other restores of it
// cannot ship.
func (r *Repository) fenceAndWriteNextEpoch(ctx context.Context, dir string, epoch uint32) (uint32, error) {
	next, all, err := r.nextEpochAfter(ctx, epoch)
	if err != nil {
		return epoch, err
	}
	if _, err := r.box.createNextFence(ctx, next, all, "restore", time.Now()); err != nil {
		return epoch, fmt.Errorf("cannot write to the backup place that earlier copies of the exchange may not continue the backup: %w", err)
	}
	return next, wal.WriteEpoch(dir, next)
}

// renameRestoredFolder fsyncs the finished folder `building`, removes an empty folder at dir,
// and renames `building` to dir.
func renameRestoredFolder(building, dir string) error {
	for _, folder := range []string{keysFolder, "catalogs", "lists", "."} {
		if err := durable.SyncFolder(filepath.Join(building, folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(building, dir), durable.SyncFolder(filepath.Dir(dir)))
}

func createNewFile(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func writeRestoredKeyFile(dir, name string, content []byte) error {
	if !staysInsideFolder(name) {
		return fmt.Errorf("the backup names a key file %q, which is outside of keys/ (was the backup changed?)", name)
	}
	f, err := createNewFile(dir, name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close(), durable.SyncFolder(filepath.Dir(f.Name())))
}
