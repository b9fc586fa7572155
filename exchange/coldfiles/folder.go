// Package coldfiles keeps the files with rows of old closed leads, in the folder cold/ of an exchange's data
// directory. See state.ColdFile for the rows and rowfile for the format.
//
// A snapshot's meta names its files. Names are random and never used again, so another file never passes for a lost
// one. A file that no longer belongs to the last two snapshots is deleted. All files can be rebuilt from the log, so a
// backup does not contain them.
package coldfiles

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"pingpost/engine/state"
	"pingpost/internal/durable"
	"pingpost/wal/rowfile"
)

// maxReads is the number of reads of cold files at one time. More requests wait.
const maxReads = 32

// Folder is the folder of cold files of one data directory. Its methods must not be called concurrently.
type Folder struct {
	dir      string
	shape    rowfile.Shape
	reads    chan struct{}
	logger   *slog.Logger
	onDamage func(error)
	damaged  atomic.Bool

	files         []*file       // the newest first
	lost          time.Duration // kept-for of the files that Open did not open, until the next snapshot
	lastSnapshots [2][]string   // the files of the last two snapshots, of which the first may be that of the start
}

// file is a cold file that the state reads. It reports damage to its folder.
type file struct {
	*rowfile.File
	folder  *Folder
	keptFor time.Duration // the longest time for which one of its leads is kept after its decision
}

// snapshotMeta is the meta of a snapshot, as JSON.
type snapshotMeta struct {
	Files []fileMeta `json:"cold_files"` // the newest first
}

type fileMeta struct {
	Name    string        `json:"name"`
	KeptFor time.Duration `json:"kept_for"` // nanoseconds
}

// Options configures Open.
type Options struct {
	DataDir string
	Logger  *slog.Logger
	// OnDamage is called once, when a file turns out to be damaged. The file has been moved to damage/, so the
	// next start rebuilds its rows.
	OnDamage func(error)
}

// ErrIncomplete is returned by Open if a cold file of the snapshot is missing or damaged. The rows must then be
// rebuilt from the log.
var ErrIncomplete = errors.New("the files with rows of closed leads are incomplete; their rows are rebuilt from the log")

var fileName = regexp.MustCompile(`^[0-9a-f]{16}\.rows$`)

// Open opens the files that a snapshot's meta names. An empty meta names no file. After ErrIncomplete the folder is
// usable and has no files.
func Open(meta []byte, opt Options) (*Folder, error) {
	f := &Folder{dir: filepath.Join(opt.DataDir, "cold"), reads: make(chan struct{}, maxReads), logger: opt.Logger, onDamage: opt.OnDamage}
	f.shape.Shards, f.shape.RowBytes = state.ColdRowShape()
	if len(meta) == 0 {
		return f, nil
	}
	var named snapshotMeta
	if err := json.Unmarshal(meta, &named); err != nil {
		return f, fmt.Errorf("%w: the snapshot does not name them: %w", ErrIncomplete, err)
	}
	for _, of := range named.Files {
		f.lost = max(f.lost, of.KeptFor)
	}
	opened := make([]*file, 0, len(named.Files))
	for _, of := range named.Files {
		if !fileName.MatchString(of.Name) {
			return f, fmt.Errorf("%w: the snapshot names %q", ErrIncomplete, of.Name)
		}
		one, err := f.open(of.Name, of.KeptFor)
		if err != nil {
			return f, fmt.Errorf("%w: %w", ErrIncomplete, err)
		}
		opened = append(opened, one)
	}
	f.files, f.lost = opened, 0
	f.lastSnapshots[1] = namesOf(f.files)
	return f, nil
}

func (f *Folder) open(name string, keptFor time.Duration) (*file, error) {
	opened, err := rowfile.Open(filepath.Join(f.dir, name), f.shape, f.reads)
	if err != nil {
		return nil, err
	}
	return &file{opened, f, keptFor}, nil
}

// Files returns the files, the newest first.
func (f *Folder) Files() (newestFirst []state.ColdFile) {
	for _, file := range f.files {
		newestFirst = append(newestFirst, file)
	}
	return newestFirst
}

// CountLeadsAndBytes returns the leads in cold files of a Folder, and the size of the files.
func CountLeadsAndBytes(files []state.ColdFile) (leads int, bytes int64) {
	for _, of := range files {
		leads += of.(*file).Rows(0)
		bytes += of.(*file).Bytes()
	}
	return leads, bytes
}

// KeptFor returns for how long after a lead's decision its cold rows may be needed. The log must keep its entries
// as long, so that the rows can be rebuilt.
func (f *Folder) KeptFor() (longest time.Duration) {
	longest = f.lost
	for _, file := range f.files {
		longest = max(longest, file.keptFor)
	}
	return longest
}

// Find is rowfile.File.Find. It reports damage to the folder.
func (f *file) Find(kind, shard int, key [16]byte, dst []byte) (row []byte, found bool, err error) {
	row, found, err = f.File.Find(kind, shard, key, dst)
	return row, found, f.folder.reportDamage(f, err)
}

// AppendPart is rowfile.File.AppendPart. It reports damage to the folder.
func (f *file) AppendPart(dst []byte, kind, shard int) ([]byte, error) {
	dst, err := f.File.AppendPart(dst, kind, shard)
	return dst, f.folder.reportDamage(f, err)
}

// reportDamage moves a damaged file to damage/ and calls OnDamage, once. It returns err.
func (f *Folder) reportDamage(of *file, err error) error {
	if !errors.Is(err, rowfile.ErrDamaged) || f.damaged.Swap(true) || f.onDamage == nil {
		return err
	}
	damage := filepath.Join(filepath.Dir(f.dir), "damage")
	kept := filepath.Join(damage, fmt.Sprintf("%s.%d.bad", filepath.Base(of.Path()), time.Now().UnixNano()))
	moved := durable.MakeFolder(damage)
	if moved == nil {
		moved = errors.Join(os.Rename(of.Path(), kept), durable.SyncFolder(f.dir), durable.SyncFolder(damage))
	}
	f.onDamage(errors.Join(err, moved))
	return err
}

// newName returns the name of a new file.
func newName() string {
	var random [8]byte
	_, _ = rand.Read(random[:])
	return hex.EncodeToString(random[:]) + ".rows"
}

func namesOf(files []*file) (names []string) {
	for _, file := range files {
		names = append(names, filepath.Base(file.Path()))
	}
	return names
}

// deleteUnused deletes the files that neither the folder nor one of the last two snapshots has. (A start that loads
// an older snapshot, because the last one is damaged, may then lack files, and rebuilds their rows.)
func (f *Folder) deleteUnused() {
	used := slices.Concat(namesOf(f.files), f.lastSnapshots[0], f.lastSnapshots[1])
	entries, err := os.ReadDir(f.dir)
	for _, entry := range entries {
		if !slices.Contains(used, entry.Name()) && err == nil {
			err = os.Remove(filepath.Join(f.dir, entry.Name()))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.logger.Warn("cannot delete files of closed leads that are no longer used; the next snapshot tries again", "error", err)
	}
}
