package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadEpoch returns the life that the folder's log is in. It rises wherever the
// sequences of lost entries may be given again (an accepted loss, a restore), so
// that whoever has read the lost ones can tell.
func ReadEpoch(dir string) (uint32, error) {
	path := filepath.Join(dir, "EPOCH")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the log's epoch: %w", err)
	}
	epoch, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || epoch == 0 {
		return 0, fmt.Errorf("cannot read the log's epoch: %q holds no number from 1 on", path)
	}
	return uint32(epoch), nil
}

// WriteEpoch makes epoch the life of a log that nobody has open.
func WriteEpoch(dir string, epoch uint32) error {
	text := strconv.FormatUint(uint64(epoch), 10) + "\n"
	if err := writeFile(filepath.Join(dir, "EPOCH"), strings.NewReader(text), int64(len(text))); err != nil {
		return fmt.Errorf("cannot write the log's epoch: %w", err)
	}
	return nil
}
