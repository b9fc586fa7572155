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
type throttle struct {
	sleep       func(time.Duration)
	catchingUp  bool // there was more than one transaction takes
	contended   bool // the last rest was long
	workStarted time.Time
}

// Of work at a stretch, and of the rest that follows. The system wakes nobody sooner than
// after a millisecond.
const (
	workTime           = 500 * time.Microsecond
	workTimeCatchingUp = 4 * time.Millisecond
	restTime           = time.Millisecond
	contendedRest      = 3 * time.Millisecond // which it takes at least where others wait
)

// draw begins a stretch.
func (b *throttle) startWork() { b.workStarted = time.Now() }

// take rests, where a stretch has passed.
func (b *throttle) restIfDue() {
	most := workTime
	if b.catchingUp && !b.contended {
		most = workTimeCatchingUp
	}
	if time.Since(b.workStarted) < most {
		return
	}
	ended := time.Now()
	b.sleep(restTime)
	b.startWork()
	b.contended = b.workStarted.Sub(ended) >= contendedRest
}
