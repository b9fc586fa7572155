package wal

import (
	"io"
	"iter"
	"os"
	"time"

	"pingpost/internal/timer"
)

// PacedPiece is the number of bytes that WritePaced writes and flushes at a time. The
// committer's fsync waits until the disk has finished such a piece.
const PacedPiece = 128 << 10

// WritePaced writes data at the file's current offset, at most bytesPerSecond (0 or less:
// unlimited). It writes pieces of PacedPiece bytes and flushes each before the next. One
// large fsync at the end would delay the committer's fsync by tens of milliseconds. The
// caller must still fsync the file.
func WritePaced(f *os.File, data []byte, bytesPerSecond int64) error {
	pace := newThrottle(bytesPerSecond)
	off, err := f.Seek(0, io.SeekCurrent)
	for err == nil && len(data) > 0 {
		var n int
		if n, err = f.Write(data[:min(len(data), PacedPiece)]); err != nil {
			break
		}
		err = flushRange(f, off, int64(n))
		if off, data = off+int64(n), data[n:]; len(data) > 0 {
			pace.countBytesAndSleep(n)
		}
	}
	return err
}

// FlushPaced flushes parts of a file to the disk, piece by piece and at most bytesPerSecond,
// like WritePaced. Each range is an offset and a length. A range that is already on the disk
// costs little more than its share of the rate. The caller must still fsync the file.
func FlushPaced(f *os.File, ranges iter.Seq2[int64, int64], bytesPerSecond int64) error {
	pace := newThrottle(bytesPerSecond)
	for off, left := range ranges {
		for left > 0 {
			n := min(left, PacedPiece)
			if err := flushRange(f, off, n); err != nil {
				return err
			}
			pace.countBytesAndSleep(int(n))
			off, left = off+n, left-n
		}
	}
	return nil
}

// throttle limits background disk I/O, so that the committer's writes find the disk free.
type throttle struct {
	rate  int64 // bytes a second; 0: unlimited
	start time.Time
	bytes int64
	lift  <-chan struct{} // closing it removes the limit; may be nil
}

func newThrottle(bytesPerSecond int64) *throttle {
	return &throttle{rate: max(bytesPerSecond, 0), start: time.Now()}
}

// countBytesAndSleep counts the bytes just read or written, and sleeps until they fit the rate. It
// returns at once when the channel lift is closed.
func (p *throttle) countBytesAndSleep(bytes int) {
	select {
	case <-p.lift:
	case <-timer.After(p.countBytesAndReturnDelay(bytes)):
	}
}

// countBytesAndReturnDelay counts the bytes just read or written and returns how long to sleep for them.
// Idle time gives no credit for a later burst.
func (p *throttle) countBytesAndReturnDelay(bytes int) time.Duration {
	if p.rate == 0 {
		return 0
	}
	p.bytes += int64(bytes)
	due := time.Duration(float64(p.bytes) / float64(p.rate) * float64(time.Second))
	wait := due - time.Since(p.start)
	if wait < 0 {
		p.start, p.bytes = time.Now(), 0
		return 0
	}
	return wait
}
