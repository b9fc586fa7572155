package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

type backupListGenerationsCmd struct {
	From string `required:"true" help:"Folder, or s3://bucket/prefix." placeholder:"PLACE"`
}

// Run prints a table of the backup's generations, which are copies of the log. It needs no
// key.
func (c *backupListGenerationsCmd) Run() error {
	from, err := openBackupStore(c.From, store.OpenExisting)
	if err != nil {
		return err
	}
	all, err := backup.NewRepository(from, nil).Generations(context.Background())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("there is no backup in %s", from)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "GENERATION\tLIFE\tBEGUN\tENTRIES\tUP TO\tSNAPSHOTS\tOBJECTS\tBYTES\t")
	for i := range all {
		g := &all[i]
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", g.Number, g.Epoch, formatTimeOrDash(g.Begun), formatRestorableEntries(g), formatTimeOrDash(g.LastAt), g.Snapshots, g.Objects, g.Bytes, describeIncompleteness(g))
	}
	return out.Flush()
}

// formatRestorableEntries returns the first and last log entry that can be restored from a
// generation, for the list.
func formatRestorableEntries(generation *backup.Generation) string {
	if generation.Last == 0 {
		return "none"
	}
	return fmt.Sprintf("%d-%d", generation.First, generation.Last)
}

// describeIncompleteness returns the reason why a generation of the backup is incomplete, or
// "" if it is complete.
func describeIncompleteness(generation *backup.Generation) string {
	switch {
	case generation.Damage != nil:
		return "its claim is damaged"
	case generation.Gaps > 0:
		return "entries are missing"
	case !generation.Whole:
		return "under way"
	}
	return ""
}

func formatTimeOrDash(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

type backupVerifyCmd struct {
	From       string `required:"true" help:"Folder, or s3://bucket/prefix." placeholder:"PLACE"`
	KeyFile    string `help:"Key file with the identity (AGE-SECRET-KEY-…), for an encrypted backup." placeholder:"FILE"`
	Generation int    `help:"Check only this generation." placeholder:"N"`
}

// Run reads and checks all generations of the backup, or only that of --generation, and prints the
// ranges that can be restored. The exit code is 1 if a part is damaged.
func (c *backupVerifyCmd) Run() error {
	repository, shown, err := openBackupWithProgress(c.From, c.KeyFile, c.Generation)
	if err != nil {
		return err
	}
	found, err := repository.Verify(context.Background(), c.Generation)
	shown.End()
	if err != nil {
		return err
	}
	for i := range found.Checks {
		k := &found.Checks[i]
		fmt.Printf("generation %d, life %d: %d entries, %d snapshots, %d files, %d bytes in %d objects\n",
			k.Number, k.Epoch, k.Entries, k.Snapshots, k.Files, k.Bytes, k.Objects)
		for _, span := range k.Spans {
			fmt.Printf("  restores  entries %d to %d, %s to %s\n", span.First, span.Last, formatTimeOrDash(span.FirstAt), formatTimeOrDash(span.LastAt))
		}
		for _, problem := range k.Problems {
			fmt.Printf("  DAMAGE    %v\n", problem)
		}
	}
	for _, problem := range found.Problems {
		fmt.Printf("DAMAGE    %v\n", problem)
	}
	for _, note := range found.Notes {
		fmt.Printf("note      %s\n", note)
	}
	if !found.OK() {
		return errors.Join(terminal.ExitCodeError(1))
	}
	fmt.Println("good")
	return nil
}

// openBackupWithProgress opens an existing backup with the key file. An empty keyFile means that the
// backup is unencrypted. It shows on the terminal how much of the generation has been read; 0 means
// all generations.
func openBackupWithProgress(location, keyFile string, generation int) (*backup.Repository, *terminal.Progress, error) {
	var key *backup.Key
	var err error
	if keyFile != "" {
		if key, err = backup.ReadAgeKeyFile(keyFile); err != nil {
			return nil, nil, err
		}
	}
	from, err := openBackupStore(location, store.OpenExisting)
	if err != nil {
		return nil, nil, err
	}
	shown := terminal.NewProgress(os.Stderr)
	if shown.HasTerminal() {
		from = &storeShowingReadProgress{Store: from, shown: shown, total: bytesOfGenerations(from, key, generation)}
	}
	return backup.NewRepository(from, key), shown, nil
}

// bytesOfGenerations returns the size of a generation of a backup, or of all for 0. It returns 0 if
// the backup cannot be listed: the caller's own read then returns the error.
func bytesOfGenerations(from store.Store, key *backup.Key, generation int) (total int64) {
	all, err := backup.NewRepository(from, key).Generations(context.Background())
	if err != nil {
		return 0
	}
	for i := range all {
		if generation == 0 || all[i].Number == generation {
			total += all[i].Bytes
		}
	}
	return total
}

// storeShowingReadProgress is a store that shows on the terminal how much of it has been read.
type storeShowingReadProgress struct {
	store.Store
	total int64 // bytes

	mu    sync.Mutex // guards the following fields
	shown *terminal.Progress
	read  int64 // bytes
}

// Get returns an object and shows the progress.
func (s *storeShowingReadProgress) Get(ctx context.Context, name string) ([]byte, error) {
	object, err := s.Store.Get(ctx, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read += int64(len(object))
	s.shown.ShowPercentAndTimeLeft("reading the backup", s.read, s.total)
	return object, err
}

type backupKeygenCmd struct {
	File string `arg:"" help:"Path of the new key file, which must not exist yet."`
}

// Run creates a key file for backups and prints its recipient (the public key).
func (c *backupKeygenCmd) Run() error {
	file, recipient, err := backup.GenerateAgeKeyFileText()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot create the key file: %w", err)
	}
	_, err = f.Write(file)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("cannot create the key file: %w", err)
	}
	if _, err := fmt.Println(recipient); err != nil {
		return fmt.Errorf("created the key file %q, but cannot print its recipient (see the file's first line): %w", c.File, err)
	}
	return nil
}
