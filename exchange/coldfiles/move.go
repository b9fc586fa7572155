package coldfiles

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"pingpost/engine/state"
	"pingpost/wal/rowfile"
)

// maxFiles is the number of files above which files are merged. Each file costs a request a look into its filter
// for each key and duplicate value.
const maxFiles = 4

// Move is the part of a snapshot that moves rows. The caller gives Rows to State.WriteSnapshot, commits the snapshot
// with the meta that Finish returns, and then calls Apply. Abort ends a move at any time.
type Move struct {
	Rows   state.RowMove
	folder *Folder
	state  *state.State
	w      *rowfile.Writer
	name   string
	files  []*file // of the snapshot, the newest first
	added  bool    // the first of files has the moved rows
}

// BeginMove begins to move the rows of leads that were decided before decidedBefore, in Unix nanoseconds. firstEntry is
// the first entry of the log's history.
func (f *Folder) BeginMove(s *state.State, decidedBefore int64, firstEntry uint64, opt rowfile.WriteOptions) (*Move, error) {
	m := &Move{folder: f, state: s, name: newName()}
	var err error
	if m.w, err = rowfile.Create(filepath.Join(f.dir, m.name), f.shape, opt); err != nil {
		return nil, err
	}
	m.Rows = state.RowMove{DecidedBefore: decidedBefore, FirstEntry: firstEntry, To: m.w}
	return m, nil
}

// Finish makes the file of the moved rows durable. It returns the meta of the snapshot, which names its files. Files
// whose rows have all expired, by the time of the log, are not part of the snapshot.
func (m *Move) Finish() (snapshotMetaJSON []byte, err error) {
	now := logSeconds(m.state)
	m.files = slices.DeleteFunc(slices.Clone(m.folder.files), func(file *file) bool { return state.ColdFileExpiry(file.Meta()) <= now })
	if m.Rows.Moved == 0 {
		m.w.Abort()
	} else {
		if err := m.w.Commit(m.Rows.FileMeta()); err != nil {
			return nil, err
		}
		opened, err := m.folder.open(m.name, m.Rows.KeptFor)
		if err != nil {
			return nil, err
		}
		m.files, m.added = append([]*file{opened}, m.files...), true
	}
	meta := snapshotMeta{Files: make([]fileMeta, 0, len(m.files))}
	for _, file := range m.files {
		meta.Files = append(meta.Files, fileMeta{filepath.Base(file.Path()), file.keptFor})
	}
	return json.Marshal(meta)
}

// logSeconds returns the time of the last applied entry in Unix seconds. Rows expire by it, on all nodes alike, and not
// by the clock of this machine.
func logSeconds(s *state.State) int64 {
	_, at := s.Position()
	return at / int64(time.Second)
}

// Apply removes the moved rows from memory. The snapshot is durable. replacesLast reports that it has the name of the
// last snapshot. nowUnixNanos is the time by the clock. After an error the state must not be used.
func (m *Move) Apply(replacesLast bool, nowUnixNanos int64) error {
	f := m.folder
	f.files, f.lost = m.files, 0
	if !replacesLast {
		f.lastSnapshots[0] = f.lastSnapshots[1]
	}
	f.lastSnapshots[1] = namesOf(m.files)
	if !m.added {
		m.state.SetColdFiles(f.Files())
	} else if err := m.state.ForgetMovedRows(f.Files(), nowUnixNanos); err != nil {
		return err
	}
	f.deleteUnused()
	return nil
}

// Abort gives up the move, and removes its file unless Finish was successful. The next move deletes such a file.
func (m *Move) Abort() { m.w.Abort() }

// MergeIfMany merges two neighboring files if there are more than maxFiles, or if most rows of a file have expired by
// the time of the log. It does not merge without room for the merged file, or when the limit of the options is lifted.
// The next snapshot names the merged file. It reports whether it has merged.
func (f *Folder) MergeIfMany(s *state.State, hasRoomFor func(bytes uint64) bool, opt rowfile.WriteOptions) (merged bool, err error) {
	now := logSeconds(s)
	first := f.chooseNeighbors(now)
	if first < 0 || !hasRoomFor(uint64(f.files[first].Bytes()+f.files[first+1].Bytes())) {
		return false, nil
	}
	inputs := f.files[first : first+2]
	meta, err := state.MergedFileMeta([]state.ColdFile{inputs[0], inputs[1]}, uint32(now))
	if err != nil {
		return false, err
	}
	name := newName()
	w, err := rowfile.Create(filepath.Join(f.dir, name), f.shape, opt)
	if err != nil {
		return false, err
	}
	defer w.Abort()
	var keptFor time.Duration
	err = rowfile.Merge(w, inputs, func(kind int, row []byte) bool {
		if int64(state.ColdRowExpiry(kind, row)) <= now {
			return false
		}
		keptFor = max(keptFor, state.ColdRowKeptFor(kind, row))
		return true
	})
	if errors.Is(err, rowfile.ErrStopped) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.Commit(meta); err != nil {
		return false, err
	}
	opened, err := f.open(name, keptFor)
	if err != nil {
		return false, err
	}
	f.files = slices.Concat(f.files[:first], []*file{opened}, f.files[first+2:])
	s.SetColdFiles(f.Files())
	return true, nil
}

// chooseNeighbors returns the index of the newer one of two neighboring files to merge, or -1. Only neighbors can be
// merged, because the newest row with a key counts. It chooses the two smallest, so that a row is written again only
// a few times.
func (f *Folder) chooseNeighbors(nowUnixSeconds int64) (firstOrMinusOne int) {
	best := -1
	for i := range len(f.files) - 1 {
		if state.ColdFileExpiredPercent(f.files[i+1].Meta(), nowUnixSeconds) > 50 {
			return i
		}
		if best < 0 || f.files[i].Bytes()+f.files[i+1].Bytes() < f.files[best].Bytes()+f.files[best+1].Bytes() {
			best = i
		}
	}
	if len(f.files) <= maxFiles {
		return -1
	}
	return best
}
