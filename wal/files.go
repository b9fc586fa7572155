package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// What a log holds is about persons: nobody but its owner reads it.
const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600
)

// syncDir makes the directory's entries durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// makeDir makes a directory that may exist, and its entry in its parent durable. A
// parent that we may not read was made by someone else, and long ago.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return err
	}
	err := syncDir(filepath.Dir(dir))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// replaceFile gives path the first size bytes of src, or nothing of it: a copy
// under a temporary name, fsync, rename, fsync of the directory. Where src and path
// are the same file, this is what makes the disk hold what the page cache shows.
func replaceFile(path, src string, size int64) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(path, io.LimitReader(in, size), size)
}

// writeFile gives path the size bytes that content holds, all or nothing.
func writeFile(path string, content io.Reader, size int64) error {
	tmp := filepath.Join(filepath.Dir(path), "copy.tmp")
	out, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, content)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes were to be copied to %q and %d were there: %w", size, path, n, io.ErrUnexpectedEOF)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// moveFile renames into another directory and makes both durable.
func moveFile(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		return err
	}
	return syncDir(filepath.Dir(from))
}
