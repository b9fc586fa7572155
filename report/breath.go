package report

import "time"

// A breath has who writes work a little and rest a little, since leads are served by the
// same processors: whoever comes while a whole batch is written without a rest waits for
// all of it, and that is a lead's slowest hundredth. Where much is left to do the rests
// are as few as serving bears. (Rejected: a thread of low priority. What the collector
// waits for would wait behind all else.)
//
// It is of one goroutine.
type breath struct {
	behind bool // there was more than one transaction takes
	began  time.Time
}

// Of work at a stretch, and of the rest that follows. The system wakes nobody sooner than
// after a millisecond.
const (
	stretch       = 500 * time.Microsecond
	stretchBehind = 4 * time.Millisecond
	rest          = time.Millisecond
)

// draw begins a stretch.
func (b *breath) draw() { b.began = time.Now() }

// take rests, where a stretch has passed.
func (b *breath) take() {
	most := stretch
	if b.behind {
		most = stretchBehind
	}
	if time.Since(b.began) < most {
		return
	}
	time.Sleep(rest)
	b.draw()
}
