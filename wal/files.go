package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pingpost/internal/durable"
)

// The log holds personal data: only the owner of the files can read them.
const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600
)

// copyFileOver atomically replaces the file at path by the first size bytes of the file
// source. It writes a temporary file, fsyncs and renames it, and fsyncs the directory. With
// source equal to path it rewrites the file, which forces the page cache's content onto the
// disk.
func copyFileOver(path, source string, size int64) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return replaceFileDurably(path, io.LimitReader(in, size), size)
}

// replaceFileDurably atomically replaces the file at path by the content, which must have size bytes.
// The new file is durable.
func replaceFileDurably(path string, content io.Reader, size int64) error {
	tmp := filepath.Join(filepath.Dir(path), "copy.tmp")
	out, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, content)
	if err == nil && n != size {
		err = fmt.Errorf("cannot copy %d bytes to %q: the source has %d: %w", size, path, n, io.ErrUnexpectedEOF)
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
	return durable.SyncFolder(filepath.Dir(path))
}

// moveFile moves a file to another directory and makes both directories durable.
func moveFile(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFoldersOfMove(from, to)
}

// moveFileOrCompleteMove is moveFile. If an earlier call has moved the file but could not fsync both
// directories, it only fsyncs them.
func moveFileOrCompleteMove(from, to string) error {
	err := moveFile(from, to)
	if _, statErr := os.Lstat(to); errors.Is(err, fs.ErrNotExist) && statErr == nil {
		return syncFoldersOfMove(from, to)
	}
	return err
}

func syncFoldersOfMove(from, to string) error {
	if err := durable.SyncFolder(filepath.Dir(to)); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(from))
}

// ReadEpoch returns the log's epoch, a number from 1 on, from the file EPOCH; it is 1 without
// that file. It rises when the numbers of lost entries may be assigned again: after an
// accepted loss or a restore. A reader of the lost entries detects this by the epoch.
func ReadEpoch(dir string) (epochOrOne uint32, err error) {
	path := filepath.Join(dir, "EPOCH")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the file EPOCH, which counts the log's restores and accepted losses: %w", err)
	}
	epoch, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || epoch == 0 {
		return 0, fmt.Errorf("cannot read the log's epoch: %q must hold a number from 1 on", path)
	}
	return uint32(epoch), nil
}

// WriteEpoch sets the epoch of the log in dir durably. No process may have the log open.
func WriteEpoch(dir string, epoch uint32) error {
	text := strconv.FormatUint(uint64(epoch), 10) + "\n"
	if err := replaceFileDurably(filepath.Join(dir, "EPOCH"), strings.NewReader(text), int64(len(text))); err != nil {
		return fmt.Errorf("cannot write the file EPOCH, which counts the log's restores and accepted losses: %w", err)
	}
	return nil
}

// NextEpoch returns epoch + 1, or an error if epoch is the highest possible number.
func NextEpoch(epoch uint32) (uint32, error) {
	if epoch == math.MaxUint32 {
		return 0, fmt.Errorf("epoch %d is the highest number and has no successor: find the file that holds it (the log's file EPOCH, or an object claim or fence in the backup), and check whether it was changed", epoch)
	}
	return epoch + 1, nil
}
