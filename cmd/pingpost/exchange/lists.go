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
	"strconv"
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
	g := gathering{list: list, key: key}
	var skipped uint64
	sum, err := eachLine(source, func(number int, line []byte) error {
		if err := g.take(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		return nil
	}, &skipped)
	if err != nil {
		return nil, state.ListFile{}, fmt.Errorf("cannot read suppression list %q: %w", list.ID, err)
	}
	table := g.table(nil)
	file, err := keepTable(dir, table)
	file.Source = sum
	return table, file, err
}

// keepTable writes a list's contents beside the log. They are durable when it
// returns.
func keepTable(dir string, table *market.Table) (state.ListFile, error) {
	hash := sha256.New()
	_, _ = table.WriteTo(hash)
	file := state.ListFile{File: hex.EncodeToString(hash.Sum(nil)), Entries: uint64(table.Len())}
	return file, writeDurably(listPath(dir, file.File), table)
}

// gathering is a list's entries on their way into a table. They lie in pieces, since
// a slice that grows has twice its size for a moment, and its past as garbage.
type gathering struct {
	list   *market.List
	key    *[32]byte
	pieces [][]uint64
	n      int
}

const gatheringPiece = 1 << 17 // entries: 1 MiB

func (g *gathering) take(line []byte) error {
	entry, err := g.list.Entry(line, g.key)
	if err != nil {
		return err
	}
	last := len(g.pieces) - 1
	if last < 0 || len(g.pieces[last]) == gatheringPiece {
		g.pieces = append(g.pieces, make([]uint64, 0, gatheringPiece))
		last++
	}
	g.pieces[last] = append(g.pieces[last], entry)
	g.n++
	return nil
}

// table makes a table of what was gathered, and of another's entries where there is
// one. What was gathered is gone then.
func (g *gathering) table(other *market.Table) *market.Table {
	n := g.n
	if other != nil {
		n += other.Len()
	}
	all := make([]uint64, 0, n)
	for i, piece := range g.pieces {
		all = append(all, piece...)
		g.pieces[i] = nil
	}
	g.pieces, g.n = nil, 0
	if other != nil {
		all = other.AppendEntries(all)
	}
	return market.NewTable(all)
}

// eachLine goes through the lines that are values or hashes, counts the others, and
// gives the hex SHA-256 of all lines, whatever ends them.
func eachLine(source io.Reader, take func(number int, line []byte) error, skipped *uint64) (sum string, err error) {
	hash := sha256.New()
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, maxLine), maxLine) // the larger of the two counts
	number := 1
	for ; lines.Scan(); number++ {
		line := lines.Bytes()
		_, _ = hash.Write(append(line, '\n'))
		if len(line) == 0 || line[0] == '#' {
			*skipped++
			continue
		}
		if err := take(number, line); err != nil {
			return "", err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return "", longLine(number)
	}
	return hex.EncodeToString(hash.Sum(nil)), lines.Err()
}

// longLine is the number of a line that is longer than any entry.
type longLine int

func (l longLine) Error() string {
	return "line " + strconv.Itoa(int(l)) + ": too long; an entry has at most " + strconv.Itoa(maxLine) + " bytes"
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
func writeDurably(path string, content io.WriterTo) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder %q: %w", folder, err)
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
