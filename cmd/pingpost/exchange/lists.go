package exchange

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"pingpost/engine/market"
	"pingpost/engine/state"
)

// listPath is where a suppression list's contents lie, by their hash.
func listPath(dir, hash string) string { return filepath.Join(dir, "lists", hash) }

// openList reads a list's contents, which must be what their name says.
func openList(dir string, file state.ListFile) (*market.Table, error) {
	data, err := os.ReadFile(listPath(dir, file.File))
	if err != nil {
		return nil, fmt.Errorf("cannot read a suppression list's contents: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != file.File {
		return nil, fmt.Errorf("the suppression list's contents %q are damaged; put the file back from a backup", listPath(dir, file.File))
	}
	return market.OpenTable(data)
}

// maxLine bounds a line of a list's file.
const maxLine = 4096

// importList reads a file of one value or hash a line and keeps it as an
// immutable file beside the log. The file is durable when it returns.
func importList(dir string, list *market.List, key *[32]byte, path string) (*market.Table, state.ListFile, error) {
	source, err := openRegular(path)
	if err != nil {
		return nil, state.ListFile{}, fmt.Errorf("cannot read suppression list %q: %w", list.ID, err)
	}
	defer source.Close()
	var entries []uint64
	sum, err := eachLine(source, func(number int, line []byte) error {
		entry, err := list.Entry(line, key)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		entries = append(entries, entry)
		return nil
	})
	if err != nil {
		return nil, state.ListFile{}, fmt.Errorf("cannot read suppression list %q: %w", list.ID, err)
	}
	table := market.NewTable(entries)
	data := table.AppendBinary(nil)
	name := sha256.Sum256(data)
	file := state.ListFile{
		File: hex.EncodeToString(name[:]), Source: sum, Entries: uint64(table.Len()),
	}
	return table, file, writeDurably(listPath(dir, file.File), data)
}

// eachLine goes through the lines that are values or hashes, and gives the hex
// SHA-256 of all lines, whatever ends them.
func eachLine(source io.Reader, take func(number int, line []byte) error) (sum string, err error) {
	hash := sha256.New()
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, maxLine), maxLine) // the larger of the two counts
	for number := 1; lines.Scan(); number++ {
		line := lines.Bytes()
		_, _ = hash.Write(append(line, '\n'))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := take(number, line); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), lines.Err()
}

// openRegular opens a file that has an end. Opening a pipe would wait for who
// writes to it, and reading a device might never be over.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err == nil && !about.Mode().IsRegular() {
		err = fmt.Errorf("%q is no regular file; name one that has a value or hash a line", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// writeDurably writes a file under a temporary name and moves it into place.
func writeDurably(path string, data []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder %q: %w", folder, err)
	}
	file, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write %q: %w", path, err), os.Remove(file.Name()))
	}
	for _, dir := range []string{folder, filepath.Dir(folder)} {
		if err := syncFolder(dir); err != nil {
			return fmt.Errorf("cannot write %q: %w", path, err)
		}
	}
	return nil
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeStrayLists removes files that are no list's contents: left by a crash
// between their writing and their fact, or replaced since. What a list had that is
// out of the configuration stays: it may come back.
func removeStrayLists(dir string, used []string) error {
	files, err := os.ReadDir(filepath.Join(dir, "lists"))
	if err != nil {
		return nil //nolint:nilerr // no folder yet: nothing to remove
	}
	for _, file := range files {
		if !slices.Contains(used, file.Name()) {
			if err := os.Remove(listPath(dir, file.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
