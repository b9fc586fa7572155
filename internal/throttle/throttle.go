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

// ErrStopped reports that the exchange stops, which ends a scan.
var ErrStopped = errors.New("the exchange stops")

// ScanThrottle throttles a scan of the whole log, which may be gigabytes. After each chunk it
// pauses for as long as the chunk took, so the scan uses at most half a core.
type ScanThrottle struct {
	chunk int64
	stop  *atomic.Bool
	read  int64 // bytes read at the end of the last pause
	since time.Time
}

// NewScanThrottle starts a scan with this chunk size. A set stop ends it.
func NewScanThrottle(chunk int64, stop *atomic.Bool) ScanThrottle {
	return ScanThrottle{chunk: chunk, stop: stop, since: time.Now()}
}

// PauseAfterChunk sleeps if a chunk has been read since the last pause; read is the total number
// of bytes so far. It returns ErrStopped if the exchange stops.
func (s *ScanThrottle) PauseAfterChunk(read int64) error {
	if read-s.read < s.chunk {
		return nil
	}
	if s.stop.Load() {
		return ErrStopped
	}
	time.Sleep(min(time.Since(s.since), MaxPause))
	s.read, s.since = read, time.Now()
	return nil
}
