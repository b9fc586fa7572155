package report

import "time"

// A breath has who writes work a little and rest a little, since leads are served by the
// same processors: whoever comes while a whole batch is written without a rest waits for
// all of it, and that is a lead's slowest hundredth. Where much is left to do there are few
// rests, unless one was much longer than it should have been: then others wait for the
// processors, and come first. (Rejected: a thread of low priority. What the collector
// waits for would wait behind all else.)
//
// It is of one goroutine.
type breath struct {
	sleep  func(time.Duration)
	behind bool // there was more than one transaction takes
	busy   bool // the last rest was long
	began  time.Time
}

// Of work at a stretch, and of the rest that follows. The system wakes nobody sooner than
// after a millisecond.
const (
	stretch       = 500 * time.Microsecond
	stretchBehind = 4 * time.Millisecond
	rest          = time.Millisecond
	restBusy      = 3 * time.Millisecond // which it takes at least where others wait
)

// draw begins a stretch.
func (b *breath) draw() { b.began = time.Now() }

// take rests, where a stretch has passed.
func (b *breath) take() {
	most := stretch
	if b.behind && !b.busy {
		most = stretchBehind
	}
	if time.Since(b.began) < most {
		return
	}
	ended := time.Now()
	b.sleep(rest)
	b.draw()
	b.busy = b.began.Sub(ended) >= restBusy
}
