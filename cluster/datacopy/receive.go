package datacopy

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"pingpost/cluster/clusterid"
	"pingpost/internal/durable"
)

// unfinishedName is the file that a data directory has while it is an incomplete copy.
const unfinishedName = "COPYING"

// ErrNotEmpty means that the new node's data directory has data already.
var ErrNotEmpty = errors.New("the data directory has the data of an exchange; delete it, or choose another directory")

// IsUnfinished reports whether dir is an incomplete copy, which must not be used.
func IsUnfinished(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, unfinishedName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Receive stores a copy of another node's data in dir, durably. dir must have no data, except that of an
// earlier copy that was interrupted, which Receive replaces. After an error dir stays unfinished.
func Receive(from io.Reader, dir string) error {
	if err := prepareFolder(dir); err != nil {
		return fmt.Errorf("cannot copy another node's data to %q: %w", dir, err)
	}
	if err := receiveFiles(from, dir); err != nil {
		return fmt.Errorf("the copy of another node's data in %q is incomplete; try again: %w", dir, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, unfinishedName)), durable.SyncFolder(dir)); err != nil {
		return fmt.Errorf("cannot finish the copy of another node's data in %q: %w", dir, err)
	}
	return nil
}

// copied are the names at the top of a data directory that a copy has.
var copied = []string{"EPOCH", clusterid.FileName, "log", "archive", "snapshot", "cold", "keys/leads", "keys/checksums", "catalogs", "lists"}

// prepareFolder marks dir as an unfinished copy and removes the remains of an earlier one.
func prepareFolder(dir string) error {
	unfinished, err := IsUnfinished(dir)
	if err != nil {
		return err
	}
	for _, name := range copied {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil && !unfinished {
			return ErrNotEmpty
		}
	}
	if err := durable.MakeFolder(dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, unfinishedName), nil, 0o600); err != nil {
		return err
	}
	if err := durable.SyncFolder(dir); err != nil {
		return err
	}
	for _, name := range copied {
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

func receiveFiles(from io.Reader, dir string) error {
	archive := tar.NewReader(from)
	touched := map[string]bool{}
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return errors.New("the other node sent no end")
		}
		if err != nil {
			return err
		}
		if header.Name == endName {
			break
		}
		if err := checkName(header); err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err := storeFile(archive, file); err != nil {
			return err
		}
		touched[filepath.Dir(file)] = true
	}
	for folder := range touched {
		if err := durable.SyncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}

// checkName rejects a file that does not belong into a copy, so that another node cannot write elsewhere.
func checkName(h *tar.Header) error {
	known := h.Name == "EPOCH" || h.Name == clusterid.FileName || slices.Contains(copied, path.Dir(h.Name))
	if h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) || !known {
		return fmt.Errorf("the other node sent the file %q, which is no part of a copy", h.Name)
	}
	return nil
}

func storeFile(content io.Reader, file string) error {
	if err := durable.MakeFolder(filepath.Dir(file)); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
