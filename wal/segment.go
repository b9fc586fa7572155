package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Segment is one file of the log, with consecutive entries. It is live (below log/) or
// archived. Only the last live segment changes.
type Segment struct {
	First    uint64 // sequence of its first entry, existing or future
	Path     string
	Archived bool
}

const archiveSuffix = ".seg"

func logDir(dir string) string      { return filepath.Join(dir, "log") }
func archiveDir(dir string) string  { return filepath.Join(dir, "archive") }
func snapshotDir(dir string) string { return filepath.Join(dir, "snapshot") }
func damageDir(dir string) string   { return filepath.Join(dir, "damage") }

func segmentName(first uint64) string { return fmt.Sprintf("%020d", first) }

func livePath(dir string, first uint64) string {
	return filepath.Join(logDir(dir), segmentName(first))
}

func archivePath(dir string, first uint64) string {
	return filepath.Join(archiveDir(dir), segmentName(first)+archiveSuffix)
}

// parseSequenceName parses the name of a segment or snapshot file: an entry number of 20
// digits, and the suffix.
func parseSequenceName(name, suffix string) (seq uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil && seq > 0
}

// Segments lists the log's files, archived ones first, in order of their entries. It needs
// no lock. The error is fs.ErrNotExist if the folder has no log.
func Segments(dir string) ([]Segment, error) {
	// List the live folder first: a segment that moves meanwhile then appears twice, not never.
	live, err := listSequenceNumbers(logDir(dir), "")
	if err != nil {
		return nil, err
	}
	archived, err := listSequenceNumbers(archiveDir(dir), archiveSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	segments := make([]Segment, 0, len(archived)+len(live))
	for _, first := range archived {
		segments = append(segments, Segment{First: first, Path: archivePath(dir, first), Archived: true})
	}
	for _, first := range live {
		if _, moved := slices.BinarySearch(archived, first); !moved {
			segments = append(segments, Segment{First: first, Path: livePath(dir, first)})
		}
	}
	slices.SortFunc(segments, func(a, b Segment) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	return segments, nil
}

// listSequenceNumbers lists the entry numbers in the names of a folder's files, in ascending
// order. It considers only names of 20 digits with the given ending.
func listSequenceNumbers(dir, ending string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	seqs := make([]uint64, 0, len(entries))
	for _, e := range entries {
		if seq, ok := parseSequenceName(e.Name(), ending); ok && !e.IsDir() {
			seqs = append(seqs, seq)
		}
	}
	return seqs, nil // ReadDir sorts, and 20 digits sort as numbers
}

// indexOfSegmentWith returns the index of the segment that contains entry seq or, for the
// last segment, will contain it. It returns -1 if all segments begin after seq.
func indexOfSegmentWith(segments []Segment, seq uint64) int {
	i, found := slices.BinarySearchFunc(segments, seq, func(s Segment, seq uint64) int {
		switch {
		case s.First < seq:
			return -1
		case s.First > seq:
			return 1
		}
		return 0
	})
	if found {
		return i
	}
	return i - 1
}

// openSegmentOrArchived opens the segment with first entry `first`, from the log or else from
// the archive. Segments move only in this direction, so it also finds a segment that moves at
// the same time.
func openSegmentOrArchived(dir string, first uint64) (*os.File, error) {
	f, err := os.Open(livePath(dir, first))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(archivePath(dir, first))
	}
	return f, err
}

// rejectFilesThatLoseEntries returns an error if the log's folder has files that would make the
// tidwall/wal library lose entries. That library deletes segments next to a .START or .END
// file, and skips segments that are not regular files.
func rejectFilesThatLoseEntries(dir string) error {
	entries, err := os.ReadDir(logDir(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if len(name) < 20 || strings.Trim(name[:20], "0123456789") != "" {
			continue
		}
		_, ok := parseSequenceName(name, "")
		foreign := strings.HasSuffix(name, ".START") || strings.HasSuffix(name, ".END") ||
			(len(name) == 20 && (!ok || !e.Type().IsRegular()))
		if foreign {
			return fmt.Errorf("cannot open the log while its folder contains %q: %w", filepath.Join(logDir(dir), name), ErrForeign)
		}
	}
	return nil
}
