package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	raftfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// roomInSegment is the room for further entries in a segment that repairSealedTail begins, in bytes. frameRoom is
// more than the bytes that raft-wal adds to an entry and to its index.
const (
	roomInSegment = 64 << 20
	frameRoom     = 64
)

// repairSealedTail repairs a Raft log that raft-wal 0.4.1 opens, but in which it can store no entry
// ("segment is sealed"). With the last entries of a full segment, raft-wal writes an index at the end of its
// file. Later it stores in its meta data that the next segment begins. After a crash in between, it does not
// begin one. After a power loss the index may also be torn. raft-wal then drops the entries before it, which
// are not confirmed yet, but still takes the segment for a full one.
//
// The repair copies the entries into a segment with a higher limit, so it does not depend on the index. Then the
// meta data name the new segment, and raft-wal deletes the old one.
func repairSealedTail(logDir string) (err error) {
	if _, err := os.Stat(filepath.Join(logDir, metadb.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var meta metadb.BoltMetaDB
	state, err := meta.Load(logDir)
	defer func() { err = errors.Join(err, meta.Close()) }()
	if err != nil || len(state.Segments) == 0 {
		return err
	}
	files := segment.NewFiler(logDir, raftfs.New())
	tail := &state.Segments[len(state.Segments)-1]
	entries, needsRepair, err := readTail(files, *tail)
	if err != nil || !needsRepair {
		return err
	}
	size := roomInSegment
	for i := range entries {
		size += len(entries[i].Data) + frameRoom
	}
	tail.ID, tail.SizeLimit = state.NextSegmentID, uint32(size)
	state.NextSegmentID++
	if err := removeIfPresent(filepath.Join(logDir, segment.FileName(*tail))); err != nil {
		return err
	}
	if len(entries) > 0 { // raft-wal itself creates a missing file
		if err := writeTail(files, *tail, entries); err != nil {
			return err
		}
	}
	return meta.CommitState(state)
}

// readTail reads the last segment. It needs a repair if it is sealed, although its meta data say that it is not.
// readTail then returns its entries.
func readTail(files *segment.Filer, tail types.SegmentInfo) (entries []types.LogEntry, needsRepair bool, err error) {
	if !tail.SealTime.IsZero() {
		return nil, false, nil
	}
	tail.MinIndex = tail.BaseIndex // the file has deleted entries too
	from, err := files.RecoverTail(tail)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if isSealed, _, err := from.Sealed(); err != nil || !isSealed {
		return nil, false, err
	}
	for index := tail.BaseIndex; index <= from.LastIndex(); index++ {
		stored, err := from.GetLog(index)
		if err != nil {
			return nil, false, fmt.Errorf("cannot read entry %d: %w", index, err)
		}
		entries = append(entries, types.LogEntry{Index: index, Data: append([]byte(nil), stored.Bs...)})
		if err := stored.Close(); err != nil {
			return nil, false, err
		}
	}
	return entries, true, nil
}

// writeTail writes the entries into a new segment, durably.
func writeTail(files *segment.Filer, info types.SegmentInfo, entries []types.LogEntry) error {
	to, err := files.Create(info)
	if err != nil {
		return err
	}
	err = to.Append(entries)
	if isSealed, _, _ := to.Sealed(); err == nil && isSealed {
		err = fmt.Errorf("a segment of %d bytes is too small for its entries", info.SizeLimit)
	}
	return errors.Join(err, to.Close())
}

// removeIfPresent deletes the file of an earlier repair that a crash interrupted.
func removeIfPresent(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
