package child

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

// startBackup backs up the log, as the exchange does. stop ends the backup and returns its
// size.
func (c *commitLoad) startBackup(dir string) (stop func() (bytes int64, err error), err error) {
	place, err := store.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	shipper, err := backup.NewShipper(backup.SourceFromLog(c.log), backup.Options{To: place, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- shipper.Run(ctx) }()
	return func() (int64, error) {
		cancel()
		err := <-ended
		shipper.Close()
		bytes, counting := folderSize(dir)
		return bytes, errors.Join(err, counting)
	}, nil
}

// folderSize returns the sum of the file sizes in a folder.
func folderSize(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// writeExchangeKey writes a key at the exchange's path. A backup requires one.
func writeExchangeKey(dir string) error {
	path := filepath.Join(dir, "keys", "exchange.key")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Repeat([]byte{1}, 32), 0o600)
}
