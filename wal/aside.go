package wal

import (
	"io"
	"iter"
	"os"
)

// AsidePiece is how much is written at a time of what need not be on the disk soon.
// What the disk is busy with when the committer's fsync comes, that fsync waits for.
const AsidePiece = 128 << 10

// WriteAside writes data where the file's offset is, in pieces, each of them on the disk
// before the next is written, and at most so many bytes a second; zero or less: as fast
// as that goes. A file of megabytes that is fsynced at its end alone stands before a
// commit as a whole. The file is still the caller's to fsync.
func WriteAside(f *os.File, data []byte, bytesPerSecond int64) error {
	pace := newPacer(bytesPerSecond)
	off, err := f.Seek(0, io.SeekCurrent)
	for err == nil && len(data) > 0 {
		var n int
		if n, err = f.Write(data[:min(len(data), AsidePiece)]); err != nil {
			break
		}
		err = flushRange(f, off, int64(n))
		if off, data = off+int64(n), data[n:]; len(data) > 0 {
			pace.wait(n)
		}
	}
	return err
}

// FlushAside has ranges of a file, by offset and length, written to the disk as WriteAside
// writes. What of them is on the disk already costs next to nothing but its share of the
// rate. The file is still the caller's to fsync.
func FlushAside(f *os.File, ranges iter.Seq2[int64, int64], bytesPerSecond int64) error {
	pace := newPacer(bytesPerSecond)
	for off, left := range ranges {
		for left > 0 {
			n := min(left, AsidePiece)
			if err := flushRange(f, off, n); err != nil {
				return err
			}
			pace.wait(int(n))
			off, left = off+n, left-n
		}
	}
	return nil
}
