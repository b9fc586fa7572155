package exchange

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"pingpost/config"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// suppressionFilePath returns the path of a suppression list's file. The file is named after the hash
// of its contents.
func suppressionFilePath(dataDir, contentHash string) string {
	return filepath.Join(dataDir, "lists", contentHash)
}

// readStoredListFile reads the stored entries of a suppression list from the data directory dataDir. It
// returns an error if the contents do not match the hash in the file's name.
func readStoredListFile(dataDir string, file state.SuppressionListFile) (*fingerprint.FingerprintTable, error) {
	data, err := os.ReadFile(suppressionFilePath(dataDir, file.File))
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored entries of a suppression list: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != file.File {
		return nil, fmt.Errorf("the suppression list file %q is damaged; restore it from a backup", suppressionFilePath(dataDir, file.File))
	}
	return fingerprint.ParseFingerprintTable(data)
}

// maxLine limits the length of a line in a list's file, without its line ending.
const maxLine = 4096

// importSuppressionList reads a suppression list's initial file at sourcePath, one value or hash
// per line. It stores the entries as an immutable file in the data directory. That file is durable when
// importSuppressionList returns.
func (x *Exchange) importSuppressionList(list *market.SuppressionListDefinition, fingerprintKey *[32]byte, sourcePath string) (*fingerprint.FingerprintTable, state.SuppressionListFile, error) {
	g := suppressionListBuilder{list: list, key: fingerprintKey}
	sum, err := forEachEntryLineOfListFile(list.ID, sourcePath, g.addLine)
	if err != nil {
		return nil, state.SuppressionListFile{}, err
	}
	table := g.buildTableAndReset(nil)
	file, err := x.storeSuppressionTable(table)
	file.Source = sum
	return table, file, err
}

// forEachEntryLineOfListFile calls visit with each entry line of the suppression list's file at path.
// It returns the SHA-256 of all lines, with comments and empty ones, by which a later start recognizes
// the same file.
func forEachEntryLineOfListFile(id market.ListID, path string, visit func(line []byte) error) (linesSHA256 string, err error) {
	source, err := openRegularFile(path)
	if err == nil {
		defer source.Close()
		var skipped uint64
		linesSHA256, err = forEachSuppressionEntryLine(source, func(number int, line []byte) error {
			if err := visit(line); err != nil {
				return fmt.Errorf("line %d of %q: %w; correct or remove the line", number, path, err)
			}
			return nil
		}, &skipped)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read suppression list %q: %w", id, err)
	}
	return linesSHA256, nil
}

// checkInitialListFile returns an error if the initial file of a suppression list cannot be read or
// has an invalid line. It stores nothing.
func checkInitialListFile(built *config.CompiledDocument, initial *config.InitialSuppressionFile) error {
	var key [32]byte
	list := built.Catalog.Lists[initial.ID]
	_, err := forEachEntryLineOfListFile(initial.ID, initial.Path, func(line []byte) error { _, err := list.FingerprintLine(line, &key); return err })
	return err
}

// CheckInitialListFiles checks the initial files of all suppression lists for the command that checks a
// configuration. An exchange reads such a file only once, for a list without entries. So if the
// data directory already has a log, a faulty file is only a warning.
func CheckInitialListFiles(built *config.CompiledDocument) (problems, warnings syntax.Problems) {
	_, err := os.Stat(filepath.Join(built.Settings.DataDir, "log"))
	begun := err == nil
	for _, first := range built.Initial.Lists {
		problem := first.At
		err := checkInitialListFile(built, &first)
		switch {
		case err == nil:
		case begun:
			problem.Message = err.Error() + "; the exchange does not read the file if it already has the list"
			warnings = append(warnings, problem)
		default:
			problem.Message = err.Error()
			problems = append(problems, problem)
		}
	}
	return problems, warnings
}

// checkInitialFilesOfNewLists checks the initial files of those lists for which the exchange has no
// entries yet. It is for dry runs.
func (x *Exchange) checkInitialFilesOfNewLists(built *config.CompiledDocument) error {
	for _, first := range built.Initial.Lists {
		if _, known := x.state.SuppressionListFile(x.state.RefOf(event.ObjectList, string(first.ID))); known {
			continue
		}
		if err := checkInitialListFile(built, &first); err != nil {
			return asListProblem(&first, err)
		}
	}
	return nil
}

// asListProblem turns an error about a list's file into a validation error at the list's
// position in the configuration file.
func asListProblem(initial *config.InitialSuppressionFile, err error) error {
	problem := initial.At
	problem.Message = err.Error()
	return &syntax.Problems{problem}
}

// storeSuppressionTable writes a list's entries to a file in the data directory, named after the hash of
// its contents. The file is durable when storeSuppressionTable returns.
func (x *Exchange) storeSuppressionTable(table *fingerprint.FingerprintTable) (state.SuppressionListFile, error) {
	hash := sha256.New()
	_, _ = table.WriteTo(hash)
	file := state.SuppressionListFile{File: hex.EncodeToString(hash.Sum(nil)), Entries: uint64(table.Len())}
	return file, x.storeFile("lists/"+file.File, table)
}

// suppressionListBuilder collects the entries of a suppression list while its lines are read. It stores
// them in pieces of fixed size, because a growing slice needs twice its size for a moment and
// leaves garbage.
type suppressionListBuilder struct {
	list   *market.SuppressionListDefinition
	key    *[32]byte
	pieces [][]uint64
	n      int
}

const listPieceSize = 1 << 17 // entries: 1 MiB

func (g *suppressionListBuilder) addLine(line []byte) error {
	entry, err := g.list.FingerprintLine(line, g.key)
	if err != nil {
		return err
	}
	last := len(g.pieces) - 1
	if last < 0 || len(g.pieces[last]) == listPieceSize {
		g.pieces = append(g.pieces, make([]uint64, 0, listPieceSize))
		last++
	}
	g.pieces[last] = append(g.pieces[last], entry)
	g.n++
	return nil
}

// buildTableAndReset returns a table of the collected entries and frees the builder's memory. If
// existing is not nil, the table also has the entries of existing.
func (g *suppressionListBuilder) buildTableAndReset(existing *fingerprint.FingerprintTable) *fingerprint.FingerprintTable {
	n := g.n
	if existing != nil {
		n += existing.Len()
	}
	all := make([]uint64, 0, n)
	for i, piece := range g.pieces {
		all = append(all, piece...)
		g.pieces[i] = nil
	}
	g.pieces, g.n = nil, 0
	if existing != nil {
		all = existing.AppendFingerprints(all)
	}
	return fingerprint.NewFingerprintTable(all)
}

// byteOrderMark begins the text files of some programs, such as Excel. It is no part of the first line.
const byteOrderMark = "\ufeff"

// forEachSuppressionEntryLine calls visit with each line that has a value or hash. It counts the other
// lines (empty ones and comments) in skippedLines. It returns the hex SHA-256 of all lines, without
// regard to the kind of line endings.
func forEachSuppressionEntryLine(source io.Reader, visit func(lineNumber int, line []byte) error, skippedLines *uint64) (linesSHA256 string, err error) {
	hash := sha256.New()
	lines := bufio.NewScanner(source)
	const longest = len(byteOrderMark) + maxLine + len("\r\n")
	lines.Buffer(make([]byte, longest), longest) // the larger of the two counts
	number := 1
	for ; lines.Scan(); number++ {
		line := lines.Bytes()
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if len(line) > maxLine {
			return "", lineAtNumberTooLongError(number)
		}
		_, _ = hash.Write(append(line, '\n'))
		if len(line) == 0 || line[0] == '#' {
			*skippedLines++
			continue
		}
		if err := visit(number, line); err != nil {
			return "", err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return "", lineAtNumberTooLongError(number)
	}
	return hex.EncodeToString(hash.Sum(nil)), lines.Err()
}

// lineAtNumberTooLongError says that a line of a list's file is longer than any valid entry. Its value
// is the line's number.
type lineAtNumberTooLongError int

func (l lineAtNumberTooLongError) Error() string {
	return "line " + strconv.Itoa(int(l)) + ": too long; an entry has at most " + strconv.Itoa(maxLine) + " bytes"
}

// openRegularFile opens a file for reading, and rejects anything but a regular file. A pipe
// would block until another program writes to it, and a device may never end.
func openRegularFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err == nil && !about.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file; name a file with one value or hash per line", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeStrayListFiles removes stored list files whose hash is not in usedHashes. A crash before the
// event that names the file leaves such files, and so does an upload that replaces a list.
// Lists that are no longer configured count as used, because they may return.
func removeStrayListFiles(dataDir string, usedHashes []string) error {
	files, err := os.ReadDir(filepath.Join(dataDir, "lists"))
	if err != nil {
		return nil //nolint:nilerr // there is no folder yet
	}
	for _, file := range files {
		if !slices.Contains(usedHashes, file.Name()) {
			if err := os.Remove(suppressionFilePath(dataDir, file.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// suppressionTableCache keeps the entries of suppression lists in memory, by the hash of their
// stored file. A change of the configuration then need not read unchanged files again.
// dropTablesExcept frees the tables of lists that are no longer configured.
type suppressionTableCache struct {
	mu     sync.Mutex
	byFile map[string]*fingerprint.FingerprintTable
}

func (o *suppressionTableCache) loadTableCached(dataDir string, file state.SuppressionListFile) (*fingerprint.FingerprintTable, error) {
	o.mu.Lock()
	table := o.byFile[file.File]
	o.mu.Unlock()
	if table != nil {
		return table, nil
	}
	table, err := readStoredListFile(dataDir, file)
	if err == nil {
		o.cacheTable(file.File, table)
	}
	return table, err
}

func (o *suppressionTableCache) cacheTable(fileHash string, table *fingerprint.FingerprintTable) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byFile == nil {
		o.byFile = make(map[string]*fingerprint.FingerprintTable)
	}
	o.byFile[fileHash] = table
}

// replaceCachedTable removes the table of the stored file with the hash oldFileHash, and adds table
// under the hash newFileHash. It is called after an upload has replaced a list's entries.
func (o *suppressionTableCache) replaceCachedTable(oldFileHash, newFileHash string, table *fingerprint.FingerprintTable) {
	o.cacheTable(newFileHash, table)
	o.mu.Lock()
	defer o.mu.Unlock()
	if oldFileHash != newFileHash {
		delete(o.byFile, oldFileHash)
	}
}

// dropTablesExcept removes all tables from the cache except those in activeTables, which the active
// configuration uses.
func (o *suppressionTableCache) dropTablesExcept(activeTables map[market.ListID]*fingerprint.FingerprintTable) {
	used := make(map[*fingerprint.FingerprintTable]bool, len(activeTables))
	for _, table := range activeTables {
		used[table] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for file, table := range o.byFile {
		if !used[table] {
			delete(o.byFile, file)
		}
	}
}
