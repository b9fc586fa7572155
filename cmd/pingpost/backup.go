package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pingpost/config/schema"
	"pingpost/exchange"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

type backupCmd struct {
	Run    backupRunCmd    `cmd:"" default:"withargs" help:"Back an exchange up, while it is served or not."`
	List   backupListCmd   `cmd:"" help:"Say what a place holds: generations, and up to when each can be restored."`
	Verify backupVerifyCmd `cmd:"" help:"Read a whole backup back, check every byte, and say which entries and times can be restored."`
	Keygen backupKeygenCmd `cmd:"" help:"Make a key file. Keep it apart from the exchange's machine, which needs only its recipient."`
}

// megabytesPerSecond is a rate in 10^6 bytes a second.
type megabytesPerSecond float64

func (m megabytesPerSecond) bytesPerSecond() (int64, error) {
	if m <= 0 || m > 1e6 {
		return 0, errors.New("the backup rate is out of range; give megabytes per second, above 0")
	}
	return int64(m * 1e6), nil
}

// backupFlags is how a backup is written.
type backupFlags struct {
	KeyFile     string             `help:"Encrypt to this key file: recipients (age1…) or identities of age, one a line. See keygen." placeholder:"FILE"`
	Unencrypted bool               `help:"Do not encrypt. The backup has the exchange's key and all that it knows of persons."`
	Rate        megabytesPerSecond `default:"32" help:"Megabytes a second, at most, for what is not new." placeholder:"MB"`
	Retain      string             `help:"How long a moment can be restored after it has passed, such as 30d; for ever by default." placeholder:"TIME"`
}

// parseOptions of a shipper to a place.
func (s *backupFlags) parseOptions(location string) (backup.Options, error) {
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
	opt.To, err = openStoreForWriting(location)
	return opt, err
}

// readBackupKey reads a backup key. With unencrypted there is no key.
func readBackupKey(path string, unencrypted bool) (*backup.Key, error) {
	switch {
	case path != "" && unencrypted:
		return nil, errors.New("the backup has a key file and is also set to unencrypted; give one of the two, not both")
	case path != "":
		return backup.ReadKey(path)
	case unencrypted:
		return nil, nil
	}
	return nil, errors.New("a backup contains the exchange's key and all personal data: give a key file " +
		"(pingpost backup keygen creates one), or --unencrypted (serve: --backup-unencrypted) if the place itself is safe")
}

// absoluteLocation is a place by the name that it has from everywhere.
func absoluteLocation(location string) (string, error) {
	if strings.Contains(location, "://") || strings.HasPrefix(location, "s3:") {
		return location, nil
	}
	return filepath.Abs(location)
}

// openStoreForWriting opens a place to write to.
func openStoreForWriting(location string) (store.Store, error) {
	location, err := absoluteLocation(location)
	if err != nil {
		return nil, err
	}
	return store.Open(location, os.LookupEnv)
}

// openStoreForReading opens an existing backup place for reading. Unlike openStoreForWriting it creates no folder.
func openStoreForReading(location string) (store.Store, error) {
	location, err := absoluteLocation(location)
	if err != nil {
		return nil, err
	}
	return store.Find(location, os.LookupEnv)
}

// serveBackupFlags is the part of serve's flags.
type serveBackupFlags struct {
	To string `help:"Back up to this folder or s3://bucket/prefix while serving. With several configurations, to a folder in it for each tenant." placeholder:"PLACE"`
	backupFlags
}

// optionsPerTenant returns a function for the options of each tenant, or nil without a backup.
func (s *serveBackupFlags) optionsPerTenant(severalTenants bool) (func(tenant string) (backup.Options, error), error) {
	if s.To == "" {
		if s.KeyFile != "" || s.Unencrypted || s.Retain != "" {
			return nil, errors.New("--backup-to is missing; give the place for the backup, or remove the other --backup flags")
		}
		return nil, nil
	}
	if _, err := s.backupFlags.parseOptions(s.To); err != nil {
		return nil, err
	}
	return func(tenant string) (backup.Options, error) {
		location := s.To
		if severalTenants {
			location = store.Join(location, tenant)
		}
		return s.backupFlags.parseOptions(location)
	}, nil
}

type backupRunCmd struct {
	Config string `short:"c" type:"existingfile" help:"The exchange's configuration file, which says where its data is." placeholder:"FILE"`
	Dir    string `name:"data-dir" type:"existingdir" help:"Or its data directory." placeholder:"DIR"`
	To     string `required:"true" help:"A folder, best of another machine, or s3://bucket/prefix." placeholder:"PLACE"`
	Follow bool   `help:"Go on until a signal comes, within a second behind the log."`
	backupFlags
}

// Help is the long form.
func (backupRunCmd) Help() string {
	return `The exchange may be served meanwhile. What is in the place already is not sent
again. Of an S3-compatible service the address is s3://bucket/prefix, with
?endpoint=https://host and ?region=name where it is not AWS (or
PINGPOST_S3_ENDPOINT, AWS_REGION); credentials are AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. It must know conditional writes.`
}

// Run backs up.
func (c *backupRunCmd) Run() error {
	dir, err := c.findDataDir()
	if err != nil {
		return err
	}
	opt, err := c.parseOptions(c.To)
	if err != nil {
		return err
	}
	opt.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	shipper, err := backup.NewShipper(backup.Folder(dir), opt)
	if err != nil {
		return err
	}
	defer shipper.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if c.Follow {
		err = shipper.Run(ctx)
	} else {
		err = shipper.Once(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Printf("backed up to %s: up to entry %d\n", opt.To, shipper.Status().Shipped)
	return nil
}

func (c *backupRunCmd) findDataDir() (string, error) {
	switch {
	case (c.Config == "") == (c.Dir == ""):
		return "", errors.New("say what to back up: either --config FILE or --data-dir DIR")
	case c.Dir != "":
		return filepath.Abs(c.Dir)
	}
	dir, err := exchange.DataDir(c.Config, os.LookupEnv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}
