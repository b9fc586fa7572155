// Package throttle slows background work down, so that serving keeps its share of the
// processor and the disk.
package throttle

import (
	"errors"
	"sync/atomic"
	"time"
)

const (
	// ScanChunk is the usual number of bytes between two pauses of a scan.
	ScanChunk = 1 << 20
	// MaxPause limits a pause. A chunk takes longer only if its consumer is slow.
	MaxPause = 20 * time.Millisecond
)

// ErrStopped ends a background scan because the exchange is stopping.
var ErrStopped = errors.New("the exchange stops")

// ScanThrottle throttles a scan of the whole log, which may be gigabytes. After each chunk it
// pauses for as long as the chunk took, but at most MaxPause. So the scan uses about half a core.
type ScanThrottle struct {
	chunk int64
	stop  *atomic.Bool
	read  int64 // bytes read at the end of the last pause
	since time.Time
}

// NewScanThrottle returns a throttle for a scan that begins now. The scan pauses after each
// chunkBytes bytes, and ends once stop is set.
func NewScanThrottle(chunkBytes int64, stop *atomic.Bool) ScanThrottle {
	return ScanThrottle{chunk: chunkBytes, stop: stop, since: time.Now()}
}

// PauseIfChunkWasRead sleeps if the scan has read a whole chunk since its last pause. The scan
// calls it before each entry, with the total number of bytes read so far. Instead of a pause it
// returns ErrStopped if the exchange is stopping.
func (s *ScanThrottle) PauseIfChunkWasRead(totalRead int64) error {
	if totalRead-s.read < s.chunk {
		return nil
	}
	if s.stop.Load() {
		return ErrStopped
	}
	time.Sleep(min(time.Since(s.since), MaxPause))
	s.read, s.since = totalRead, time.Now()
	return nil
}
