package connection

import (
	"time"
)

// lazyDeadline is the read or the write deadline of a connection.
//
// The library sets three deadlines per request, each a few milliseconds after the last.
// Deadlines rarely take effect: the bytes to read have arrived, and the bytes to write fit the
// buffer. So lazyDeadline only stores a deadline, and the connection sets it before an
// operation that may block. It sets the deadline a little late, so that one system call
// covers the following deadlines as well. A deadline never fires early. It fires at most a
// sixteenth of its duration late, and never more than maxDelay.
//
// The goroutine that serves the connection owns it.
type lazyDeadline struct {
	wanted      time.Time
	first, last time.Time // the range of deadlines that the one in effect covers; last is the one in effect
}

// maxDelay is the greatest delay with which a deadline takes effect.
const maxDelay = time.Second

// deadlineToSet returns the deadline that the connection needs before an operation that may
// block. mustSet is false if the deadline in effect already serves, so that no system call is
// necessary.
func (p *lazyDeadline) deadlineToSet() (deadline time.Time, mustSet bool) {
	if !p.wanted.Before(p.first) && !p.wanted.After(p.last) {
		return p.last, false
	}
	p.first, p.last = p.wanted, p.wanted
	if left := time.Until(p.wanted); !p.wanted.IsZero() && left > 0 {
		p.last = p.wanted.Add(min(left/16, maxDelay))
	}
	return p.last, true
}
