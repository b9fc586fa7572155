package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// classify says whether damage in the last segment is a torn tail. One batch may
// reach the disk in any order, so whole frames of the batch that was being written
// may stand behind the damage. A batch begins only after the one before it has been
// fsynced: a frame of a later batch proves that what is damaged was durable once,
// and so acknowledged.
func classify(d *DamageError) error {
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	later, at, err := laterBatch(f, d.Offset, info.Size(), d.Seq)
	if err != nil {
		return err
	}
	if at < 0 {
		d.Torn = true
		return nil
	}
	d.Reason += fmt.Sprintf("; entry %d of batch %d, begun after this was durable, stands at offset %d", later.seq, later.batch, at)
	return nil
}

// laterBatch searches the bytes from..size for a frame of a batch that begins after
// entry due. at is negative where there is none.
func laterBatch(f io.ReaderAt, from, size int64, due uint64) (h header, at int64, err error) {
	window := make([]byte, 1<<20)
	frame := make([]byte, headerSize+MaxEntry)
	for from < size {
		n, err := f.ReadAt(window[:min(int64(len(window)), size-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return h, -1, fmt.Errorf("cannot search the damaged segment: %w", err)
		}
		for i := bytes.Index(window[:n], magic[:]); i >= 0; i = indexFrom(window[:n], i+1) {
			at := from + int64(i)
			m, err := f.ReadAt(frame[:min(int64(len(frame)), size-at)], at)
			if err != nil && !errors.Is(err, io.EOF) {
				return h, -1, fmt.Errorf("cannot search the damaged segment: %w", err)
			}
			h, _, err := parseFrame(frame[:m])
			// A sequence that so many bytes cannot have reached is an accident.
			if err == nil && h.batch > due && h.seq >= h.batch && h.seq-due <= uint64(size)/headerSize {
				return h, at, nil
			}
		}
		if n < len(magic) || from+int64(n) == size {
			break
		}
		from += int64(n - len(magic) + 1) // a magic may straddle two windows
	}
	return header{}, -1, nil
}

func indexFrom(b []byte, i int) int {
	if step := bytes.Index(b[i:], magic[:]); step >= 0 {
		return i + step
	}
	return -1
}
