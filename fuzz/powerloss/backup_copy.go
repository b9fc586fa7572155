package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"pingpost/wal"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

// backupCopy is a backup as its disk had it after a power loss.
type backupCopy struct {
	store      store.Store
	key        *backup.Key
	repository *backup.Repository
	restoreDir string // directory for restored copies
}

// backupDir, identityFile and recipientFile return the paths of a folder's backup and of the
// two halves of its key. The folder is a recording's or a rebuilt one.
func backupDir(folder string) string     { return filepath.Join(folder, "place", "backups") }
func identityFile(folder string) string  { return filepath.Join(folder, "backup.key") }
func recipientFile(folder string) string { return filepath.Join(folder, "backup.recipient") }

// backupFlags are the flags with which the exchange backs itself up.
func backupFlags(folder string) []string {
	return []string{"--backup-to", backupDir(folder), "--backup-key-file", recipientFile(folder)}
}

// makeBackupKey creates the backup's key pair.
func makeBackupKey(folder string) error {
	identity, recipient, err := backup.GenerateAgeKeyFileText()
	return errors.Join(err, os.WriteFile(identityFile(folder), identity, 0o600), os.WriteFile(recipientFile(folder), []byte(recipient), 0o600))
}

// copyBackupKey copies the key pair into another folder.
func copyBackupKey(from, to string) error {
	identity, err1 := os.ReadFile(identityFile(from))
	recipient, err2 := os.ReadFile(recipientFile(from))
	return errors.Join(err1, err2, os.WriteFile(identityFile(to), identity, 0o600), os.WriteFile(recipientFile(to), recipient, 0o600))
}

// openBackup opens the backup in a folder for reading and writing.
func (r *recording) openBackup(folder string) (*backupCopy, error) {
	key, err := backup.ReadAgeKeyFile(identityFile(r.folder))
	if err != nil {
		return nil, err
	}
	to, err := store.OpenDir(backupDir(folder))
	if err != nil {
		return nil, err
	}
	return &backupCopy{store: to, key: key, repository: backup.NewRepository(to, key), restoreDir: filepath.Join(folder, "copy")}, nil
}

// checkAfterLoss compares the backup with the exchange's log after the same power loss, and with the
// promises about the backup.
func (s *backupCopy) checkAfterLoss(ctx context.Context, opened *openedDir, written *writtenLog, promised promises, random *rand.Rand) error {
	g, err := s.onlyGeneration(ctx)
	switch {
	case err != nil:
		return err
	case g.Last > uint64(len(opened.entries)):
		return fmt.Errorf("the backup has entry %d, but its log ends with entry %d", g.Last, len(opened.entries))
	case g.Last < promised.seq:
		return fmt.Errorf("the backup ends with entry %d, but the exchange reported entry %d as backed up", g.Last, promised.seq)
	case g.Last == 0:
		return nil // the backup is still empty
	}
	if err := s.verifyAll(ctx); err != nil {
		return err
	}
	if err := s.checkRestore(ctx, g.Last, written, promised); err != nil {
		return err
	}
	return s.checkRestore(ctx, g.First+random.Uint64N(g.Last-g.First+1), written, promises{erasures: promised.erasures})
}

// onlyGeneration returns the backup's generation, or an empty one if there is none. A second
// generation is an error, because the exchange starts one only if it finds the first broken.
func (s *backupCopy) onlyGeneration(ctx context.Context) (g backup.Generation, err error) {
	all, err := s.repository.Generations(ctx)
	switch {
	case err != nil:
		return g, fmt.Errorf("cannot list the backup: %w", err)
	case len(all) > 1:
		return g, fmt.Errorf("the backup has a second generation: %+v", all)
	case len(all) == 0:
		return g, nil
	}
	return all[0], nil
}

// verifyAll reads and verifies the whole backup.
func (s *backupCopy) verifyAll(ctx context.Context) error {
	found, err := s.repository.Verify(ctx, 0)
	if err == nil {
		err = errors.Join(found.Problems...)
		for _, c := range found.Checks {
			if !c.OK() {
				err = errors.Join(err, fmt.Errorf("%d problems, %d restorable spans of entries: %w", len(c.Problems), len(c.Spans), errors.Join(c.Problems...)))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("the backup does not verify: %w", err)
	}
	return nil
}

// checkRestore restores a copy as of an entry and checks it.
func (s *backupCopy) checkRestore(ctx context.Context, entry uint64, written *writtenLog, promised promises) error {
	if err := s.restore(ctx, entry); err != nil {
		return err
	}
	o, err := openDir(s.restoreDir)
	if err != nil {
		return fmt.Errorf("the copy restored as of entry %d does not open: %w", entry, err)
	}
	if err = o.checkContent(written, promised); err == nil && uint64(len(o.entries)) != entry {
		err = fmt.Errorf("it has %d entries", len(o.entries))
	}
	if err = errors.Join(err, o.log.Close()); err != nil {
		return fmt.Errorf("the backup restored as of entry %d: %w", entry, err)
	}
	return nil
}

// restore restores a copy as of an entry (0: the newest).
func (s *backupCopy) restore(ctx context.Context, lastEntry uint64) error {
	if err := os.RemoveAll(s.restoreDir); err != nil {
		return err
	}
	_, err := s.repository.Restore(ctx, backup.RestoreOptions{At: backup.RestorePoint{Seq: lastEntry}, Dir: s.restoreDir, Drill: true})
	if err != nil {
		return fmt.Errorf("cannot restore entry %d: %w", lastEntry, err)
	}
	return nil
}

// checkContinuation continues the backup after the loss. The backup must then contain the whole
// log.
func (s *backupCopy) checkContinuation(ctx context.Context, o *openedDir) error {
	shipper, err := backup.NewShipper(backup.SourceFromLog(o.log), backup.Options{To: s.store, Key: s.key})
	if err != nil {
		return err
	}
	defer shipper.Close()
	if err := shipper.ShipAll(ctx); err != nil {
		return fmt.Errorf("cannot back up new entries after the power loss: %w", err)
	}
	if _, err := s.onlyGeneration(ctx); err != nil {
		return err
	}
	if err := s.verifyAll(ctx); err != nil {
		return fmt.Errorf("after new entries were backed up: %w", err)
	}
	reader, err := o.log.NewReader(0)
	if err != nil {
		return err
	}
	defer reader.Close()
	return s.compareWithLog(ctx, reader)
}

// compareWithLog checks that the newest restored copy has exactly the log's entries.
func (s *backupCopy) compareWithLog(ctx context.Context, log *wal.Reader) error {
	want, err := readAllEntries(log, func(wal.Entry) error { return nil })
	if err != nil {
		return err
	}
	if err := s.restore(ctx, 0); err != nil {
		return err
	}
	reader, err := wal.NewReader(s.restoreDir, 0)
	if err != nil {
		return err
	}
	defer reader.Close()
	got, err := readAllEntries(reader, func(wal.Entry) error { return nil })
	if err == nil && len(got) != len(want) {
		err = fmt.Errorf("the restored copy has %d entries, but the log has %d", len(got), len(want))
	}
	if err == nil {
		err = compareEntries(got, want)
	}
	if err != nil {
		return fmt.Errorf("the backup restored as of its end: %w", err)
	}
	return nil
}
