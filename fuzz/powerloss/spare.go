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

// spare is a backup as its disk had it after a loss of power.
type spare struct {
	store      store.Store
	key        *backup.Key
	repository *backup.Repository
	scratch    string // where copies of the exchange are made
}

// The backup in a folder that a point is rebuilt in, or that a recording is made in,
// and the two halves of its key.
func storeIn(folder string) string     { return filepath.Join(folder, "place", "backups") }
func identityIn(folder string) string  { return filepath.Join(folder, "backup.key") }
func recipientIn(folder string) string { return filepath.Join(folder, "backup.recipient") }

// makeKey makes the backup's key.
func makeKey(folder string) error {
	identity, recipient, err := backup.NewKey()
	return errors.Join(err, os.WriteFile(identityIn(folder), identity, 0o600), os.WriteFile(recipientIn(folder), []byte(recipient), 0o600))
}

// copyKey gives another folder the same one.
func copyKey(from, to string) error {
	identity, err1 := os.ReadFile(identityIn(from))
	recipient, err2 := os.ReadFile(recipientIn(from))
	return errors.Join(err1, err2, os.WriteFile(identityIn(to), identity, 0o600), os.WriteFile(recipientIn(to), recipient, 0o600))
}

// openSpare opens what a folder has of a backup, to ship to it too.
func (r *recording) openSpare(folder string) (*spare, error) {
	key, err := backup.ReadKey(identityIn(r.folder))
	if err != nil {
		return nil, err
	}
	to, err := store.OpenDir(storeIn(folder))
	if err != nil {
		return nil, err
	}
	return &spare{store: to, key: key, repository: backup.NewRepository(to, key), scratch: filepath.Join(folder, "copy")}, nil
}

// judge holds a backup against the log that it is of, as that is after the same loss,
// and against what was said to be in it.
func (s *spare) judge(ctx context.Context, of *opened, t *truth, kept promises, chance *rand.Rand) error {
	g, err := s.generation(ctx)
	switch {
	case err != nil:
		return err
	case g.Last > uint64(len(of.entries)):
		return fmt.Errorf("the backup has entry %d, and the log it is of ends with entry %d", g.Last, len(of.entries))
	case g.Last < kept.entry:
		return fmt.Errorf("the backup ends with entry %d, and entry %d was said to be in it", g.Last, kept.entry)
	case g.Last == 0:
		return nil // nothing was shipped yet
	}
	if err := s.verify(ctx); err != nil {
		return err
	}
	if err := s.restores(ctx, g.Last, t, kept); err != nil {
		return err
	}
	return s.restores(ctx, g.First+chance.Uint64N(g.Last-g.First+1), t, promises{erasures: kept.erasures})
}

// generation is the only one; empty where there is none. A second begins where the
// first was found to be broken.
func (s *spare) generation(ctx context.Context) (g backup.Generation, err error) {
	all, err := s.repository.Generations(ctx)
	switch {
	case err != nil:
		return g, fmt.Errorf("the backup cannot be listed: %w", err)
	case len(all) > 1:
		return g, fmt.Errorf("the backup was begun anew: %+v", all)
	case len(all) == 0:
		return g, nil
	}
	return all[0], nil
}

// verify reads all of it back.
func (s *spare) verify(ctx context.Context) error {
	found, err := s.repository.Verify(ctx, 0)
	if err == nil {
		err = errors.Join(found.Problems...)
		for _, c := range found.Checks {
			if !c.OK() {
				err = errors.Join(err, fmt.Errorf("%d problems, %d spans: %w", len(c.Problems), len(c.Spans), errors.Join(c.Problems...)))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("the backup does not verify: %w", err)
	}
	return nil
}

// restores makes a copy of the exchange as of an entry, opens and judges it.
func (s *spare) restores(ctx context.Context, entry uint64, t *truth, promised promises) error {
	if err := s.restore(ctx, entry); err != nil {
		return err
	}
	o, err := open(s.scratch)
	if err != nil {
		return fmt.Errorf("what is restored as of entry %d does not open: %w", entry, err)
	}
	if err = o.judge(t, promised); err == nil && uint64(len(o.entries)) != entry {
		err = fmt.Errorf("it has %d entries", len(o.entries))
	}
	if err = errors.Join(err, o.log.Close()); err != nil {
		return fmt.Errorf("restored as of entry %d: %w", entry, err)
	}
	return nil
}

// restore makes a copy; entry 0: of the end.
func (s *spare) restore(ctx context.Context, entry uint64) error {
	if err := os.RemoveAll(s.scratch); err != nil {
		return err
	}
	_, err := s.repository.Restore(ctx, backup.RestoreOptions{At: backup.Target{Seq: entry}, Dir: s.scratch, Drill: true})
	if err != nil {
		return fmt.Errorf("entry %d cannot be restored: %w", entry, err)
	}
	return nil
}

// shipOn backs up what was opened after the loss, and sees that it is all there then.
func (s *spare) shipOn(ctx context.Context, o *opened) error {
	shipper, err := backup.NewShipper(backup.Open(o.log), backup.Options{To: s.store, Key: s.key})
	if err != nil {
		return err
	}
	defer shipper.Close()
	if err := shipper.Once(ctx); err != nil {
		return fmt.Errorf("the backup does not go on: %w", err)
	}
	if _, err := s.generation(ctx); err != nil {
		return err
	}
	if err := s.verify(ctx); err != nil {
		return fmt.Errorf("when it had gone on: %w", err)
	}
	reader, err := o.log.NewReader(0)
	if err != nil {
		return err
	}
	defer reader.Close()
	return s.holds(ctx, reader)
}

// holds sees that the end of the backup is that of a log.
func (s *spare) holds(ctx context.Context, log *wal.Reader) error {
	want, err := readAll(log, func(wal.Entry) error { return nil })
	if err != nil {
		return err
	}
	if err := s.restore(ctx, 0); err != nil {
		return err
	}
	reader, err := wal.NewReader(s.scratch, 0)
	if err != nil {
		return err
	}
	defer reader.Close()
	got, err := readAll(reader, func(wal.Entry) error { return nil })
	if err == nil && len(got) != len(want) {
		err = fmt.Errorf("it has %d entries, and the log %d", len(got), len(want))
	}
	if err == nil {
		err = same(got, want)
	}
	if err != nil {
		return fmt.Errorf("restored as of its end: %w", err)
	}
	return nil
}
