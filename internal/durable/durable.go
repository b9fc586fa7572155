// Package durable writes files that survive a power loss.
package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SyncFolder fsyncs a folder, so that created, renamed and deleted files in it survive a power
// loss.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// WriteFile writes content to a temporary file, fsyncs it and renames it to path. It creates
// the folder if it is missing, and makes the names of the file and of the folder durable. After
// a crash, path has its earlier content or the complete new one.
func WriteFile(path string, content io.WriterTo) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot create the folder %q: %w", folder, err)
	}
	file, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	_, err = content.WriteTo(file)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write %q: %w", path, err), os.Remove(file.Name()))
	}
	if err := errors.Join(SyncFolder(folder), SyncFolder(filepath.Dir(folder))); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}
