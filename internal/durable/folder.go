package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder creates a directory for its owner alone, and missing parents, unless it exists. It fsyncs the direct parent and
// the parent of each directory that it creates, so that the new names survive a crash. It skips the
// fsync of a parent that this process may not read, because another user created that one earlier.
func MakeFolder(dir string) error {
	parents := parentsToSync(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := SyncFolder(parent); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// parentsToSync returns the direct parent of dir and, for each missing one of its parents, the parent
// of that one.
func parentsToSync(dir string) (innermostFirst []string) {
	for dir = filepath.Clean(dir); ; {
		dir = filepath.Dir(dir)
		innermostFirst = append(innermostFirst, dir)
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return innermostFirst
		}
	}
}
