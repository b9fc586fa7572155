package server

import "time"

// patience is one of a connection's two deadlines, read or write.
//
// The library sets three for every request, each a few milliseconds further off
// than the last, and to hardly any of them does anything happen: what is read is
// there already, and what is written fits. So a deadline is only noted, and given
// to the connection before something may wait for it; and it is given a little
// late, so that it serves for those that follow it as well. It never comes early,
// and late by a sixteenth of the time at most, and by a second.
//
// It belongs to the goroutine that serves the connection.
type patience struct {
	wanted      time.Time
	first, last time.Time // deadlines that the one given serves for; last is that one itself
}

// lateness bounds how late a deadline is given.
const lateness = time.Second

// due tells whether the connection must be given another deadline before it
// waits, and which.
func (p *patience) due() (deadline time.Time, due bool) {
	if !p.wanted.Before(p.first) && !p.wanted.After(p.last) {
		return p.last, false
	}
	p.first, p.last = p.wanted, p.wanted
	if left := time.Until(p.wanted); !p.wanted.IsZero() && left > 0 {
		p.last = p.wanted.Add(min(left/16, lateness))
	}
	return p.last, true
}
