package rowfile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"github.com/FastFilter/xorfilter"

	"pingpost/internal/durable"
	"pingpost/internal/timer"
	"pingpost/wal"
)

// WriteOptions configures a Writer. The zero value is valid.
type WriteOptions struct {
	BytesPerSecond int64           // 0: unlimited
	LiftLimit      <-chan struct{} // closing it removes the limit
}

// Writer writes one file. Until Commit the file has a temporary name. It is not safe for concurrent use.
type Writer struct {
	path    string
	shape   Shape
	opt     WriteOptions
	f       *os.File
	id      [8]byte
	parts   []part
	pending []byte // bytes that are not written to the file yet
	written int64
	keys    []uint64     // of the present part
	encoded bytes.Buffer // the filter of the present part
	builder xorfilter.BinaryFuseBuilder
	due     time.Time // the next write under a limit
	err     error
}

// temporarySuffix ends the name of a file that is not complete.
const temporarySuffix = ".tmp"

// writeChunk is the number of bytes that a writer collects before it writes them. A writer with a limit sleeps after
// each chunk. So it computes only for a moment at a time, and the committer does not wait long for the processor.
const writeChunk = wal.PacedPiece

// Create begins a file at path. The caller ends it with Commit or Abort.
func Create(path string, shape Shape, opt WriteOptions) (*Writer, error) {
	w := &Writer{path: path, shape: shape, opt: opt, parts: make([]part, 0, shape.parts())}
	_, _ = rand.Read(w.id[:])
	err := durable.MakeFolder(filepath.Dir(path))
	if err == nil {
		w.f, err = os.OpenFile(path+temporarySuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create a row file: %w", err)
	}
	w.pending = appendHeader(nil, w.id)
	return w, nil
}

// WritePart writes the next part: all kinds of shard 0 in their order, then those of shard 1, and so on. rows
// has whole rows in the order of compareKeys, without repeated keys.
func (w *Writer) WritePart(rows []byte) error {
	if w.err != nil {
		return w.err
	}
	kind := len(w.parts) % len(w.shape.RowBytes)
	size, perBlock := w.shape.RowBytes[kind], w.shape.rowsPerBlock(kind)
	p := part{offset: w.written + int64(len(w.pending)), rows: len(rows) / size}
	if p.rows*size != len(rows) || len(w.parts) == w.shape.parts() {
		panic(fmt.Sprintf("BUG: part %d with %d bytes, rows of %d", len(w.parts), len(rows), size))
	}
	for at := size; at < len(rows); at += size {
		if compareKeys(rows[at-size:], rows[at:]) >= 0 {
			panic("BUG: the rows of a part are not in the order of their keys")
		}
	}
	for left := rows; len(left) > 0; {
		block := left[:min(len(left), perBlock*size)]
		left = left[len(block):]
		p.prefixes = append(p.prefixes, prefixOf(block))
		w.addWithChecksum(block)
	}
	if p.rows > 0 {
		p.filterBytes = w.writeFilter(rows, size)
	}
	w.parts = append(w.parts, p)
	return w.err
}

// writeFilter builds and writes the filter of a part, and returns its encoded size.
func (w *Writer) writeFilter(rows []byte, rowBytes int) (encodedBytes int) {
	w.keys = w.keys[:0]
	for at := 0; at < len(rows); at += rowBytes {
		w.keys = append(w.keys, filterKeyOf(rows[at:]))
	}
	filter, err := xorfilter.BuildBinaryFuse[uint16](&w.builder, w.keys)
	w.encoded.Reset()
	if err = errors.Join(err, filter.Save(&w.encoded)); err != nil {
		w.err = errors.Join(w.err, fmt.Errorf("cannot build the filter of a row file: %w", err))
		return 0
	}
	w.addWithChecksum(w.encoded.Bytes())
	return w.encoded.Len()
}

// addWithChecksum adds bytes of a part and their checksum to the file.
func (w *Writer) addWithChecksum(content []byte) {
	sum := blockChecksum(w.id, w.written+int64(len(w.pending)), content)
	w.pending = binary.LittleEndian.AppendUint32(append(w.pending, content...), sum)
	if len(w.pending) >= writeChunk {
		w.writePending()
	}
}

// writePending writes the collected bytes in pieces.
func (w *Writer) writePending() {
	for left := w.pending; len(left) > 0; {
		piece := left[:min(len(left), writeChunk)]
		left = left[len(piece):]
		w.writePiece(piece)
	}
	w.pending = w.pending[:0]
}

// writePiece writes a piece at the rate of the options.
func (w *Writer) writePiece(piece []byte) {
	rate := w.opt.BytesPerSecond
	select {
	case <-w.opt.LiftLimit:
		rate = 0
	default:
	}
	if w.err == nil {
		w.err = wal.WritePaced(w.f, piece, 0)
	}
	w.written += int64(len(piece))
	if rate > 0 && w.err == nil {
		w.sleepUntilDue(len(piece), rate)
	}
}

// sleepUntilDue sleeps until that many written bytes fit the rate. Time in which the writer was slower gives no credit.
func (w *Writer) sleepUntilDue(written int, bytesPerSecond int64) {
	now := time.Now()
	w.due = w.due.Add(time.Duration(float64(written) / float64(bytesPerSecond) * float64(time.Second)))
	if w.due.Before(now) {
		w.due = now
	}
	select {
	case <-w.opt.LiftLimit:
	case <-timer.After(w.due.Sub(now)):
	}
}

// Commit writes the index with the caller's meta, makes the file durable and gives it its name. All parts must
// have been written. After an error the file is removed.
func (w *Writer) Commit(meta []byte) (err error) {
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	if len(w.parts) != w.shape.parts() && w.err == nil {
		panic(fmt.Sprintf("BUG: a row file with %d of %d parts", len(w.parts), w.shape.parts()))
	}
	w.writePending()
	index := appendIndex(nil, &w.shape, meta, w.parts)
	end := trailer{id: w.id, indexOffset: w.written, indexLength: int64(len(index)), indexChecksum: crc32.Checksum(index, castagnoli)}
	w.pending = end.append(index)
	w.writePending()
	if err = errors.Join(w.err, w.f.Sync()); err != nil {
		return fmt.Errorf("cannot write a row file: %w", err)
	}
	if err = w.f.Close(); err == nil {
		err = os.Rename(w.path+temporarySuffix, w.path)
	}
	if err = errors.Join(err, durable.SyncFolder(filepath.Dir(w.path))); err != nil {
		return fmt.Errorf("cannot finish a row file: %w", err)
	}
	w.f = nil
	return nil
}

// Abort gives up the file and removes it, unless Commit was successful.
func (w *Writer) Abort() {
	if w.f == nil {
		return
	}
	w.f.Close()
	_ = os.Remove(w.path + temporarySuffix) // on failure, the next file with this name replaces it
	w.f = nil
}
