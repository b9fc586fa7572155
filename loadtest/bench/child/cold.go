package child

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"time"

	"pingpost/engine/state"
	"pingpost/wal"
	"pingpost/wal/rowfile"
)

// ColdFillSpec describes cold leads to add to the data directory of a stopped exchange, which has a snapshot.
type ColdFillSpec struct {
	Dir   string
	Leads int
	Files int // that have them, of equal size
}

// ColdFillResult is the size of the added files.
type ColdFillResult struct{ Bytes int64 }

// These are the sizes of the rows of a lead, a duplicate value and a key, and the places of the lead and the expiry in
// them. A lead has two duplicate values.
const (
	leadRowBytes, leadExpiryAt           = 96, 72
	duplicateRowBytes, duplicateExpiryAt = 36, 32
	keyRowBytes, keyExpiryAt             = 45, 40
)

// fillCold writes cold files with leads of the last month, and a snapshot that names them. It makes rows directly,
// because their log would be twenty times as large.
func fillCold(spec *ColdFillSpec) (*ColdFillResult, error) {
	snapshot, err := wal.OpenNewestValidSnapshot(spec.Dir)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	var meta map[string]any
	if err := json.Unmarshal(snapshot.Meta, &meta); err != nil {
		return nil, fmt.Errorf("the snapshot has no cold files: %w", err)
	}
	names, _ := meta["cold_files"].([]any)
	result := new(ColdFillResult)
	for n := range spec.Files {
		name := fmt.Sprintf("%016x.rows", n)
		written, err := writeColdFile(filepath.Join(spec.Dir, "cold", name), spec.Leads/spec.Files)
		if err != nil {
			return nil, err
		}
		result.Bytes += written
		names = append(names, map[string]any{"name": name, "kept_for": 0})
	}
	meta["cold_files"] = names
	text, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	return result, replaceSnapshotMeta(spec.Dir, snapshot, text)
}

// replaceSnapshotMeta writes a snapshot again with another meta.
func replaceSnapshotMeta(dir string, snapshot *wal.SnapshotReader, meta []byte) error {
	w, err := wal.BeginSnapshot(dir, wal.SnapshotRateOptions{BytesPerSecond: -1})
	if err != nil {
		return err
	}
	defer w.Abort()
	for {
		section, err := snapshot.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, section); err != nil {
			return err
		}
		if err := w.EndSection(); err != nil {
			return err
		}
	}
	_, err = w.Commit(snapshot.LastInAllSections, snapshot.Newest, meta)
	return err
}

// writeColdFile writes a file with a number of leads, and returns its size.
func writeColdFile(path string, leads int) (bytes int64, err error) {
	shape := coldShape()
	w, err := rowfile.Create(path, shape, rowfile.WriteOptions{})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	expiry := time.Now().Add(30 * 24 * time.Hour).Unix()
	each := leads / shape.Shards
	var rows []byte
	for shard := range shape.Shards {
		for kind, spec := range []struct{ count, size, expiryAt int }{
			{each, leadRowBytes, leadExpiryAt}, {2 * each, duplicateRowBytes, duplicateExpiryAt}, {each, keyRowBytes, keyExpiryAt},
		} {
			rows = appendColdRows(rows[:0], spec.count, spec.size, spec.expiryAt, shard, uint32(expiry), uint64(kind))
			if err := w.WritePart(rows); err != nil {
				return 0, err
			}
		}
	}
	meta := binary.LittleEndian.AppendUint32(nil, uint32(expiry/60))
	if err := w.Commit(binary.LittleEndian.AppendUint64(meta, 1)); err != nil {
		return 0, err
	}
	file, err := rowfile.Open(path, shape, make(chan struct{}, 1))
	if err != nil {
		return 0, err
	}
	return file.Bytes(), nil
}

// appendColdRows appends rows in the order of their keys, which are spread evenly.
func appendColdRows(rows []byte, count, rowBytes, expiryAt, shard int, expiry uint32, seed uint64) []byte {
	for i := range count {
		at := len(rows)
		rows = append(rows, make([]byte, rowBytes)...)
		row := rows[at:]
		step := math.MaxUint64 / uint64(count)
		jitter, _ := bits.Mul64(uint64(i+1)*0x9e3779b97f4a7c15^seed<<32^uint64(shard)*0xd6e8feb86659fd93, step)
		binary.BigEndian.PutUint64(row[8:], uint64(i)*step+jitter)
		binary.LittleEndian.PutUint32(row, uint32(jitter))
		row[14], row[15] = byte(shard>>8), byte(shard)
		binary.LittleEndian.PutUint32(row[expiryAt:], expiry)
	}
	return rows
}

func coldShape() rowfile.Shape {
	shards, rowBytes := state.ColdRowShape()
	return rowfile.Shape{Shards: shards, RowBytes: rowBytes}
}

// mergeColdFiles merges files at the rate of an exchange, and returns the size of the result.
func mergeColdFiles(to string, paths ...string) (bytes int64, err error) {
	reads := make(chan struct{}, 1)
	var files []*rowfile.File
	for _, path := range paths {
		file, err := rowfile.Open(path, coldShape(), reads)
		if err != nil {
			return 0, err
		}
		files = append(files, file)
	}
	w, err := rowfile.Create(to, coldShape(), rowfile.WriteOptions{BytesPerSecond: wal.SnapshotRate})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	if err := rowfile.Merge(w, files, func(int, []byte) bool { return true }); err != nil {
		return 0, err
	}
	if err := w.Commit(nil); err != nil {
		return 0, err
	}
	merged, err := rowfile.Open(to, coldShape(), reads)
	if err != nil {
		return 0, err
	}
	return merged.Bytes(), nil
}
