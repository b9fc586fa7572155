package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pingpost/config/schema"
	"pingpost/exchange"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

type backupCmd struct {
	Run    backupRunCmd             `cmd:"" default:"withargs" help:"Back up an exchange, whether it runs or not."`
	List   backupListGenerationsCmd `cmd:"" help:"List the generations of a backup, and the last time that each can restore."`
	Verify backupVerifyCmd          `cmd:"" help:"Read a whole backup, check every byte, and print which entries and times can be restored."`
	Keygen backupKeygenCmd          `cmd:"" help:"Create a key file. Keep it on another machine: the exchange's machine needs only its recipient."`
}

// megabytesPerSecond is a rate in megabytes (10^6 bytes) a second, as a flag gives it.
type megabytesPerSecond float64

func (m megabytesPerSecond) bytesPerSecond() (int64, error) {
	if m <= 0 || m > 1e6 {
		return 0, errors.New("the backup rate is out of range; give megabytes per second, above 0 and up to 1000000")
	}
	return int64(m * 1e6), nil
}

// backupWritingFlags are the flags of commands that write a backup.
type backupWritingFlags struct {
	KeyFile     string             `help:"Encrypt to this key file: recipients (age1…) or identities of age, one a line. See keygen." placeholder:"FILE"`
	Unencrypted bool               `help:"Do not encrypt. The backup contains the exchange's key and all personal data."`
	Rate        megabytesPerSecond `default:"32" help:"Highest rate in megabytes per second for copying old data." placeholder:"MB"`
	Retain      string             `help:"How long each past moment stays restorable, such as 30d; forever by default." placeholder:"TIME"`
}

// checkFlagsAndOpenStore checks the flags and opens the backup store at this location for writing. It
// returns the options of a backup.
func (s *backupWritingFlags) checkFlagsAndOpenStore(locationToOpen string) (backup.Options, error) {
	key, err := readBackupKey(s.KeyFile, s.Unencrypted)
	if err != nil {
		return backup.Options{}, err
	}
	opt := backup.Options{Key: key}
	if opt.Rate, err = s.Rate.bytesPerSecond(); err != nil {
		return opt, err
	}
	if s.Retain != "" {
		retain, err := schema.ParseDuration(s.Retain)
		if err != nil || time.Duration(retain) < time.Hour {
			return opt, fmt.Errorf("cannot retain backups for %q; give a time of at least one hour, such as 30d", s.Retain)
		}
		opt.Retain = time.Duration(retain)
	}
	opt.To, err = openBackupStore(locationToOpen, store.Open)
	return opt, err
}

// readBackupKey reads the key file, or returns nil for an unencrypted backup. The flags must
// choose exactly one of the two.
func readBackupKey(path string, unencrypted bool) (*backup.Key, error) {
	switch {
	case path != "" && unencrypted:
		return nil, errors.New("the backup has a key file and is also set to unencrypted; give one of the two, not both")
	case path != "":
		return backup.ReadAgeKeyFile(path)
	case unencrypted:
		return nil, nil
	}
	return nil, errors.New("a backup contains the exchange's key and all personal data: give a key file " +
		"(pingpost backup keygen creates one), or --unencrypted (serve: --backup-unencrypted) if the place itself is safe")
}

// openBackupStore opens the folder or S3 bucket of a backup. To write the backup, open is store.Open. To read
// it, open is store.OpenExisting, which creates no folder. openBackupStore makes the path of a folder
// absolute.
func openBackupStore(location string, open func(location string, env func(string) (string, bool)) (store.Store, error)) (store.Store, error) {
	if !strings.Contains(location, "://") && !strings.HasPrefix(location, "s3:") {
		absolute, err := filepath.Abs(location)
		if err != nil {
			return nil, err
		}
		location = absolute
	}
	return open(location, os.LookupEnv)
}

// serveBackupFlags are the flags of the command serve that begin with --backup-.
type serveBackupFlags struct {
	To string `help:"Back up to this folder or s3://bucket/prefix while serving. Each of several tenants gets its own folder in it." placeholder:"PLACE"`
	backupWritingFlags
}

// newTenantOptionsFunc returns a function that opens a tenant's backup store and makes its backup
// options. Without --backup-to it returns nil, or an error if a flag for the key or for retention is
// set. Each of several tenants has its own folder in the location.
func (s *serveBackupFlags) newTenantOptionsFunc(severalTenants bool) (optionsOrNil func(tenant string) (backup.Options, error), err error) {
	if s.To == "" {
		if s.KeyFile != "" || s.Unencrypted || s.Retain != "" {
			return nil, errors.New("--backup-to is missing; give the place for the backup, or remove the other --backup flags")
		}
		return nil, nil
	}
	if _, err := s.backupWritingFlags.checkFlagsAndOpenStore(s.To); err != nil {
		return nil, err
	}
	return func(tenant string) (backup.Options, error) {
		location := s.To
		if severalTenants {
			location = store.JoinPlace(location, tenant)
		}
		return s.backupWritingFlags.checkFlagsAndOpenStore(location)
	}, nil
}

type backupRunCmd struct {
	Config string `short:"c" type:"existingfile" help:"The exchange's configuration file, which names the data directory." placeholder:"FILE"`
	Dir    string `name:"data-dir" type:"existingdir" help:"The data directory, instead of --config." placeholder:"DIR"`
	To     string `required:"true" help:"A folder, preferably of another machine, or s3://bucket/prefix." placeholder:"PLACE"`
	Follow bool   `help:"Continue until a signal, at most a second behind the log."`
	backupWritingFlags
}

// Help returns the text that --help shows after the usage line.
func (backupRunCmd) Help() string {
	return `The exchange can run meanwhile. The command sends only data that the place does not
have yet. The address of an S3-compatible service is s3://bucket/prefix, with
?endpoint=https://host&region=name if it is not AWS (or PINGPOST_S3_ENDPOINT and
AWS_REGION). Credentials are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
AWS_SESSION_TOKEN. The service must support conditional writes.`
}

// Run backs up the exchange once, or with --follow until a signal.
func (c *backupRunCmd) Run(ctx context.Context) error {
	dir, err := c.resolveDataDir()
	if err != nil {
		return err
	}
	opt, err := c.checkFlagsAndOpenStore(c.To)
	if err != nil {
		return err
	}
	opt.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	shipper, err := backup.NewShipper(backup.SourceFromFolder(dir), opt)
	if err != nil {
		return err
	}
	defer shipper.Close()
	if c.Follow {
		err = shipper.Run(ctx)
	} else {
		err = shipper.ShipAll(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Printf("backed up to %s: up to entry %d\n", opt.To, shipper.Status().Shipped)
	return nil
}

// resolveDataDir returns the absolute path of the exchange's data directory, from --data-dir or from
// the configuration file. It returns an error unless exactly one of --data-dir and --config is set.
func (c *backupRunCmd) resolveDataDir() (absolutePath string, err error) {
	switch {
	case (c.Config == "") == (c.Dir == ""):
		return "", errors.New("name the exchange to back up: give either --config FILE or --data-dir DIR")
	case c.Dir != "":
		return filepath.Abs(c.Dir)
	}
	dir, err := exchange.DataDir(c.Config, os.LookupEnv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}
