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
	"sync"
	"syscall"
	"time"

	"pingpost/internal/durable"
)

// Dir is a Store in a folder, preferably on another machine's disk. It writes and fsyncs each
// file below .tmp first, so a file with its final name is complete and durable.
//
// A killed process may leave a file name only in the page cache. A shipper does not put a
// listed object again. Dir therefore fsyncs each folder when a listing or a put first uses
// it.
//
// Rejected: putting the last object again. Each folder has a last object.
type Dir struct {
	root  string
	fill  func(f *os.File, data []byte) error // writes an object's bytes to its file
	reads bool                                // mainly for reading: List fsyncs no folders
	*syncedFolders
}

type syncedFolders struct {
	mu     sync.Mutex
	synced map[string]bool // folders that this process has fsynced, so that the names in them are durable
}

func newSyncedFolders() *syncedFolders { return &syncedFolders{synced: map[string]bool{}} }

const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600
	// unfinished is the folder for files that are being written. A file older than
	// staleAfter was left by a crash.
	unfinished = ".tmp"
	staleAfter = time.Hour
)

// OpenDir opens a folder as a Store for reading and writing. It creates a missing folder, and
// removes temporary files that crashed processes left long ago.
func OpenDir(root string) (*Dir, error) {
	root = filepath.Clean(root)
	tmp := filepath.Join(root, unfinished)
	if err := errors.Join(makeFolderDurably(root), os.MkdirAll(tmp, dirPerm)); err != nil {
		return nil, fmt.Errorf("cannot create the backup folder %q: %w", root, err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		return nil, fmt.Errorf("cannot read the backup folder %q: %w", root, err)
	}
	for _, file := range left {
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(tmp, file.Name())) // ignore the error: the file only takes space
		}
	}
	return &Dir{root: root, fill: writeInOneCall, syncedFolders: newSyncedFolders()}, nil
}

// makeFolderDurably creates a folder and its missing parents, and fsyncs the parents so that
// the names survive a crash. It ignores a parent that it may not read or fsync, because
// another user created that one.
func makeFolderDurably(root string) error {
	parent := filepath.Dir(root)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
		if err := makeFolderDurably(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(root, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	err := durable.SyncFolder(parent)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// OpenExistingDir opens an existing folder as a Store, mainly for reading: a listing fsyncs no
// folders. A restore reads every object that it needs, so it does not depend on durable names. A
// shipper needs OpenDir, because it does not put a listed object again. OpenExistingDir does not
// create the folder.
func OpenExistingDir(root string) (*Dir, error) {
	switch info, err := os.Stat(root); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no backup folder: %w", err)
	case err != nil:
		return nil, fmt.Errorf("cannot open the backup folder: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("the backup folder %q is a file", root)
	}
	return &Dir{root: filepath.Clean(root), fill: writeInOneCall, reads: true, syncedFolders: newSyncedFolders()}, nil
}

// WithFileWriter returns the same folder with another function that writes an object's bytes
// to its file, for example one with a rate limit.
func (d *Dir) WithFileWriter(write func(f *os.File, data []byte) error) *Dir {
	other := *d
	other.fill = write
	return &other
}

// writeInOneCall writes all data in one call, without a rate limit. It does not fsync; the caller
// does.
func writeInOneCall(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

func (d *Dir) String() string { return d.root }

func (d *Dir) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Put implements Store with a rename of the finished file.
func (d *Dir) Put(ctx context.Context, name string, data []byte) error {
	return d.writeThenPublish(ctx, name, data, os.Rename)
}

// Create implements Store with a hard link, which only one process can create.
func (d *Dir) Create(ctx context.Context, name string, data []byte) error {
	err := d.writeThenPublish(ctx, name, data, os.Link)
	if errors.Is(err, fs.ErrExist) {
		return errors.Join(checkOwnObject(ctx, d, name, data), durable.SyncFolder(filepath.Dir(d.path(name))))
	}
	return err
}

// writeThenPublish writes and fsyncs a temporary file, gives it its final name with publish,
// and fsyncs the folder.
func (d *Dir) writeThenPublish(ctx context.Context, name string, data []byte, publish func(from, to string) error) error {
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
	defer func() { _ = os.Remove(tmp.Name()) }() // fails harmlessly after the rename
	err = d.fill(tmp, data)
	if err = errors.Join(err, tmp.Chmod(filePerm), tmp.Sync(), tmp.Close()); err == nil {
		err = d.makeSubfolderDurably(filepath.Dir(d.path(name)))
	}
	if err == nil {
		err = publish(tmp.Name(), d.path(name))
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(d.path(name)))
	}
	if err != nil {
		return fmt.Errorf("cannot write %s to the backup folder: %w", name, err)
	}
	return nil
}

// makeSubfolderDurably creates a folder below the root and its missing parents, and fsyncs their names.
func (d *Dir) makeSubfolderDurably(folder string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.makeSubfolderDurablyLocked(folder)
}

func (d *Dir) makeSubfolderDurablyLocked(folder string) error {
	if folder == d.root {
		return nil
	}
	parent := filepath.Dir(folder)
	_, err := os.Stat(folder)
	if err == nil && d.synced[parent] {
		return nil
	}
	if err := d.makeSubfolderDurablyLocked(parent); err != nil {
		return err
	}
	if err := os.Mkdir(folder, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncFolderLocked(parent)
}

// syncUnsyncedFolders fsyncs the folders that this process has not fsynced yet, so that their
// listed files are durable. A Dir of OpenExistingDir skips this.
func (d *Dir) syncUnsyncedFolders(folders []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, folder := range folders {
		if d.reads || d.synced[folder] {
			continue
		}
		if err := d.syncFolderLocked(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *Dir) syncFolderLocked(folder string) error {
	err := durable.SyncFolder(folder)
	d.synced[folder] = d.synced[folder] || err == nil
	return err
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
	met := d.parentFolders(folder)
	err := filepath.WalkDir(d.path(folder), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // missing, or deleted meanwhile
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == unfinished:
			return fs.SkipDir
		case entry.IsDir():
			met = append(met, path)
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
	if err == nil {
		err = d.syncUnsyncedFolders(met)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the backup folder: %w", err)
	}
	slices.SortFunc(found, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// parentFolders returns the parents of a folder, from the nearest one up to the root.
func (d *Dir) parentFolders(folder string) (folders []string) {
	for at := d.path(folder); at != d.root; {
		at = filepath.Dir(at)
		folders = append(folders, at)
	}
	return folders
}

// Delete implements Store. It also removes the folders that become empty.
func (d *Dir) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot delete an object of the backup: %w", err)
		}
		for at := filepath.Dir(d.path(name)); strings.HasPrefix(at, d.root+string(filepath.Separator)); at = filepath.Dir(at) {
			if os.Remove(at) != nil {
				break
			}
		}
	}
	return nil
}
