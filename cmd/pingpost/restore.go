package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pingpost/exchange"
	"pingpost/wal/backup"
)

type restoreCmd struct {
	From       string `required:"true" help:"Folder, or s3://bucket/prefix." placeholder:"PLACE"`
	At         string `default:"latest" help:"State to restore: latest, an entry's number, or a time such as 2026-11-20T17:00:00Z, which means the last entry up to then."`
	DataDir    string `required:"true" help:"The folder to create. It must be missing or empty, and not a mount point." placeholder:"DIR"`
	KeyFile    string `help:"Key file with the identity (AGE-SECRET-KEY-…), for an encrypted backup." placeholder:"FILE"`
	Generation int    `help:"Restore from this generation; by default from the last one that reaches the time of --at." placeholder:"N"`
	Drill      bool   `help:"Make a copy for inspection, without starting the exchange's next life. Never serve such a copy."`
}

// Help returns the text that --help shows after the usage line.
func (restoreCmd) Help() string {
	return `A restore begins the exchange's next life: an earlier copy of the exchange can no
longer back up to the same place, and does not start with --backup-to. Stop such a
copy first. Keys of erased persons stay erased, whichever time you restore.

The folder gets its name only when it is complete, verified and fsynced. The next
restore removes the rest of an interrupted one (the folder's name with .restoring).`
}

// Run restores the exchange's folder from a backup and prints the hash of the restored state.
func (c *restoreCmd) Run(ctx context.Context) error {
	at, err := backup.ParseRestorePoint(c.At)
	if err != nil {
		return err
	}
	repository, shown, err := openBackupWithProgress(c.From, c.KeyFile, c.Generation)
	if err != nil {
		return err
	}
	defer shown.End()
	var hash uint64
	done, err := repository.Restore(ctx, backup.RestoreOptions{
		At: at, Dir: c.DataDir, Generation: c.Generation, Drill: c.Drill,
		Check: func(dir string) (err error) {
			shown.ShowThrottled("replaying the restored log")
			_, hash, err = exchange.StateHash(dir, 0)
			return err
		},
	})
	shown.End()
	if errors.Is(err, backup.ErrEncrypted) && c.KeyFile == "" {
		return errors.New("the backup is encrypted; give its key file with --key-file")
	}
	if err != nil {
		return err
	}
	if done.Unsigned {
		fmt.Fprintf(os.Stderr, "pingpost restore: warning: an earlier program wrote generation %d without a checksum of its claim, so a change of the life or the first entry in the claim cannot be detected. The log entries were verified.\n", done.Generation)
	}
	fmt.Printf(`{"seq":%d,"at":%q,"hash":"%016x","generation":%d,"epoch":%d}`+"\n",
		done.Seq, done.At.Format(time.RFC3339Nano), hash, done.Generation, done.Epoch)
	return nil
}
