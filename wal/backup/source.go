package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pingpost/wal"
	"pingpost/wal/backup/store"
)

// A Source is the folder that is backed up, and how its log is read.
type Source struct {
	Dir string
	// Epoch is the life that the log is in.
	Epoch func() (uint32, error)
	// NewReader reads the log from an entry on, up to its present end.
	NewReader func(from uint64) (*wal.Reader, error)
	// Last is the last durable entry; nil where that is not known without reading.
	Last func() uint64
}

// Folder is a folder that another process may be serving.
func Folder(dir string) Source {
	return Source{
		Dir:       dir,
		Epoch:     func() (uint32, error) { return wal.ReadEpoch(dir) },
		NewReader: func(from uint64) (*wal.Reader, error) { return wal.NewReader(dir, from) },
	}
}

// apart is that a place does not lie in what is backed up to it.
func (s *Source) apart(to store.Store) error {
	folder, isDir := to.(*store.Dir)
	if !isDir {
		return nil
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(dir, folder.String()); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("cannot back up %q to %s, which lies in it; give a place that outlives it", dir, folder)
	}
	return nil
}

// Open is the folder of a log that this process serves.
func Open(log *wal.Log) Source {
	return Source{
		Dir:       log.Dir(),
		Epoch:     func() (uint32, error) { return log.Epoch(), nil },
		NewReader: log.NewReader,
		Last:      func() uint64 { seq, _ := log.Durable(); return seq },
	}
}

// rootKey is the key file without which a log means nothing: it says whose backup
// it is. Each exchange has one of its own.
const rootKey = "exchange.key"

func (s *Source) root() ([]byte, error) {
	root, err := os.ReadFile(filepath.Join(s.Dir, "keys", rootKey))
	if err != nil {
		return nil, fmt.Errorf("cannot back up %q, which has no exchange yet: %w", s.Dir, err)
	}
	return root, nil
}

// lock keeps two processes from backing up one folder to one place.
func (s *Source) lock(place string) (*os.File, error) {
	folder := filepath.Join(s.Dir, "backup")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot back up %q: %w", s.Dir, err)
	}
	hash := sha256.Sum256([]byte(place))
	f, err := wal.Lock(filepath.Join(folder, hex.EncodeToString(hash[:8])+".lock"))
	if errors.Is(err, wal.ErrLocked) {
		return nil, fmt.Errorf("%q is being backed up to %s already: %w", s.Dir, place, err)
	}
	return f, err
}
