package exchange

import (
	"errors"
	"sync/atomic"
	"time"
)

// unhurried is the pace of who reads the whole log, which may be gigabytes: in pieces,
// with a rest after each for as long as it took. Serving has the other half of that
// core, and the disk in between. It ends with the exchange.
type unhurried struct {
	piece int64
	stops *atomic.Bool
	read  int64 // bytes, when the last piece ended
	woke  time.Time
}

const (
	usualPiece = 1 << 20               // bytes
	restMost   = 20 * time.Millisecond // a piece took longer only where its reader did
)

var errStopped = errors.New("the exchange stops")

func unhurry(piece int64, stops *atomic.Bool) unhurried {
	return unhurried{piece: piece, stops: stops, woke: time.Now()}
}

// rest lets others work after each piece; read is how many bytes were read in all.
func (u *unhurried) rest(read int64) error {
	if read-u.read < u.piece {
		return nil
	}
	if u.stops.Load() {
		return errStopped
	}
	time.Sleep(min(time.Since(u.woke), restMost))
	u.read, u.woke = read, time.Now()
	return nil
}
