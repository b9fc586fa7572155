package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Dir is a folder, best on another machine's disk. A file under its own name is
// whole and durable: it is written and fsynced below .tmp first.
type Dir struct{ root string }

const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600
	// unfinished is where files are written. One that is older than staleAfter was
	// left by a crash.
	unfinished = ".tmp"
	staleAfter = time.Hour
)

// OpenDir opens a folder, and makes it where it is missing.
func OpenDir(root string) (*Dir, error) {
	tmp := filepath.Join(root, unfinished)
	if err := os.MkdirAll(tmp, dirPerm); err != nil {
		return nil, fmt.Errorf("cannot make the backup folder %q: %w", root, err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		return nil, fmt.Errorf("cannot read the backup folder %q: %w", root, err)
	}
	for _, file := range left {
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(tmp, file.Name())) // it takes room and nothing else
		}
	}
	return &Dir{root}, nil
}

// FindDir opens a folder that is there, and makes nothing in it.
func FindDir(root string) (*Dir, error) {
	if info, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("there is no backup folder: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("the backup folder %q is a file", root)
	}
	return &Dir{root}, nil
}

func (d *Dir) String() string { return d.root }

func (d *Dir) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Put implements Store.
func (d *Dir) Put(ctx context.Context, name string, data []byte) error {
	return d.write(ctx, name, data, os.Rename)
}

// Create implements Store, by a hard link, which no two can make.
func (d *Dir) Create(ctx context.Context, name string, data []byte) error {
	err := d.write(ctx, name, data, os.Link)
	if errors.Is(err, fs.ErrExist) {
		return own(ctx, d, name, data)
	}
	return err
}

func (d *Dir) write(ctx context.Context, name string, data []byte, publish func(from, to string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	below := filepath.Join(d.root, unfinished)
	if err := os.Mkdir(below, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write to the backup folder: %w", err)
	}
	tmp, err := os.CreateTemp(below, "*")
	if err != nil {
		return fmt.Errorf("cannot write to the backup folder: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // where the rename has moved it, there is nothing
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(filePerm), tmp.Sync(), tmp.Close()); err == nil {
		err = d.makeFolder(filepath.Dir(d.path(name)))
	}
	if err == nil {
		err = publish(tmp.Name(), d.path(name))
	}
	if err == nil {
		err = syncFolder(filepath.Dir(d.path(name)))
	}
	if err != nil {
		return fmt.Errorf("cannot write %s to the backup folder: %w", name, err)
	}
	return nil
}

// makeFolder makes a folder below the root, with durable entries.
func (d *Dir) makeFolder(folder string) error {
	if _, err := os.Stat(folder); err == nil || folder == d.root {
		return err
	}
	if err := d.makeFolder(filepath.Dir(folder)); err != nil {
		return err
	}
	if err := os.Mkdir(folder, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(filepath.Dir(folder))
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements Store.
func (d *Dir) Get(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", ErrNotFound, d.path(name))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxObject))
}

// List implements Store.
func (d *Dir) List(ctx context.Context, folder string) ([]Object, error) {
	var found []Object
	err := filepath.WalkDir(d.path(folder), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // none there, or deleted meanwhile
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == unfinished:
			return fs.SkipDir
		case entry.IsDir():
			return ctx.Err()
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(d.root, path)
		found = append(found, Object{Name: filepath.ToSlash(name), Size: info.Size(), Modified: info.ModTime()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list the backup folder: %w", err)
	}
	slices.SortFunc(found, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// Delete implements Store, and removes folders that are left empty.
func (d *Dir) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot delete from the backup folder: %w", err)
		}
		for at := filepath.Dir(d.path(name)); strings.HasPrefix(at, d.root+string(filepath.Separator)); at = filepath.Dir(at) {
			if os.Remove(at) != nil {
				break
			}
		}
	}
	return nil
}
