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

// SourceFolder gives a Shipper the exchange's folder and access to its log.
type SourceFolder struct {
	Dir string
	// Epoch returns the current life of the log: see wal.ReadEpoch.
	Epoch func() (uint32, error)
	// NewReader reads the log from an entry up to its current end.
	NewReader func(from uint64) (*wal.Reader, error)
	// Sync makes the entries durable that a reader has returned. It is nil if they are already.
	Sync func() error
	// Last returns the last entry. It is nil if that needs reading the log.
	Last func() uint64
}

// SourceFromFolder returns a SourceFolder that reads the log from the files in dir. Another
// process may be writing them.
func SourceFromFolder(dir string) SourceFolder {
	return SourceFolder{
		Dir:       dir,
		Epoch:     func() (uint32, error) { return wal.ReadEpoch(dir) },
		NewReader: func(from uint64) (*wal.Reader, error) { return wal.NewReader(dir, from) },
	}
}

// rejectStoreInside returns an error if the store is the folder to back up, or a folder in it.
func (s *SourceFolder) rejectStoreInside(to store.Store) error {
	folder, isDir := to.(*store.Dir)
	if !isDir {
		return nil
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(dir, folder.String()); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("cannot back up %q to %s, which is inside it or is the same folder; give a place on another disk", dir, folder)
	}
	return nil
}

// SourceFromLog returns a SourceFolder for a log that this process itself has open for
// writing.
func SourceFromLog(log *wal.Log) SourceFolder {
	return SourceFolder{
		Dir:       log.Dir(),
		Epoch:     func() (uint32, error) { return log.Epoch(), nil },
		NewReader: log.NewReader,
		Last:      func() uint64 { seq, _ := log.LastEntry(); return seq },
	}
}

// SourceFromReplica returns a SourceFolder for the log of a cluster's node, which this process itself has open. The
// node appends entries before an fsync covers them, and after a power loss its log may lack them. They must not be
// in the backup then: a shipper refuses a log that ends before its backup.
func SourceFromReplica(log *wal.Replica) SourceFolder {
	s := SourceFromLog(log.Log)
	s.Sync = func() error {
		_, err := log.Sync()
		if errors.Is(err, wal.ErrClosed) { // Close has synced them
			return nil
		}
		return err
	}
	return s
}

// exchangeKey is the key file of the exchange. It identifies the exchange, and the log
// is useless without it.
const exchangeKey = "exchange.key"

func (s *SourceFolder) readExchangeKey() ([]byte, error) {
	root, err := os.ReadFile(filepath.Join(s.Dir, "keys", exchangeKey))
	if err != nil {
		return nil, fmt.Errorf("cannot back up %q, because its exchange key cannot be read (the first start of an exchange creates it): %w", s.Dir, err)
	}
	return root, nil
}

// lockForBackupTo takes a file lock that prevents a second process from backing up this folder
// to the same place. The caller closes the file to release it.
func (s *SourceFolder) lockForBackupTo(backupPlace string) (*os.File, error) {
	folder := filepath.Join(s.Dir, "backup")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot back up %q: %w", s.Dir, err)
	}
	hash := sha256.Sum256([]byte(backupPlace))
	f, err := wal.LockFile(filepath.Join(folder, hex.EncodeToString(hash[:8])+".lock"))
	if errors.Is(err, wal.ErrLocked) {
		return nil, fmt.Errorf("%q is being backed up to %s already: %w", s.Dir, backupPlace, err)
	}
	return f, err
}
