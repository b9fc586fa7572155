package main

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

// ship backs the log up as the exchange does, until it is stopped.
func (c *committing) ship(dir string) (stop func() (bytes int64, err error), err error) {
	place, err := store.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	shipper, err := backup.NewShipper(backup.Open(c.log), backup.Options{To: place, Logger: slog.New(slog.DiscardHandler)})
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
		bytes, counting := sizeOf(dir)
		return bytes, errors.Join(err, counting)
	}, nil
}

// sizeOf is how many bytes there are in the files of a folder.
func sizeOf(dir string) (bytes int64, err error) {
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

// foundKey puts a key where an exchange has its own: what has none is no exchange, and
// is not backed up.
func foundKey(dir string) error {
	path := filepath.Join(dir, "keys", "exchange.key")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Repeat([]byte{1}, 32), 0o600)
}
