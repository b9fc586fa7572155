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

// A Segment is a file of the log. All but the last live one never change again.
type Segment struct {
	First    uint64 // sequence of its first entry, present or due
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

// parseName reads a name of 20 digits and a suffix.
func parseName(name, suffix string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}

// Segments lists the log's files, archived ones first, each in order. It needs no
// lock. A folder without a log is fs.ErrNotExist.
func Segments(dir string) ([]Segment, error) {
	// Live ones first: a segment that moves meanwhile is then seen twice, not never.
	live, err := list(logDir(dir), "")
	if err != nil {
		return nil, err
	}
	archived, err := list(archiveDir(dir), archiveSuffix)
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

// list returns the numbers of the files named by 20 digits and suffix, in order.
func list(dir, suffix string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	firsts := make([]uint64, 0, len(entries))
	for _, e := range entries {
		if first, ok := parseName(e.Name(), suffix); ok && !e.IsDir() {
			firsts = append(firsts, first)
		}
	}
	return firsts, nil // ReadDir sorts, and 20 digits sort as numbers
}

// holding returns the index of the segment in which seq is or will be, -1 where
// it comes before all of them.
func holding(segments []Segment, seq uint64) int {
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

// openSegment opens a segment wherever it is. Segments move from the log to the
// archive and nowhere else, so looking in this order finds one that is moving.
func openSegment(dir string, first uint64) (*os.File, error) {
	f, err := os.Open(livePath(dir, first))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(archivePath(dir, first))
	}
	return f, err
}

// checkNames refuses a log folder with files on which tidwall's log would act: it
// deletes segments beside a .START or .END file, and skips what is not a file.
func checkNames(dir string) error {
	entries, err := os.ReadDir(logDir(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if len(name) < 20 || strings.Trim(name[:20], "0123456789") != "" {
			continue
		}
		_, ok := parseName(name, "")
		foreign := strings.HasSuffix(name, ".START") || strings.HasSuffix(name, ".END") ||
			(len(name) == 20 && (!ok || !e.Type().IsRegular()))
		if foreign {
			return fmt.Errorf("cannot open the log beside %q: %w", filepath.Join(logDir(dir), name), ErrForeign)
		}
	}
	return nil
}

// size is how many bytes the segment has, 0 where it is gone.
func (s Segment) size() int64 {
	info, err := os.Stat(s.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}
