package report

import "time"

// writeThrottle makes the writer alternate between short work and short rests, because it
// shares the processors with the handling of leads. A lead that arrives during a long
// uninterrupted write waits for its end, which shows in the slowest hundredth of leads.
// While the writer catches up, it rests less often. But if a rest took much longer than
// requested, other work waits for the processors, and the writer rests as often as usual.
//
// Rejected: a thread of low priority. The garbage collector would have to wait for it, and
// everything else for the collector.
//
// It is used by one goroutine.
type writeThrottle struct {
	sleep       func(time.Duration)
	catchingUp  bool // the last transaction left entries unread
	contended   bool // the last rest was long
	workStarted time.Time
}

// Durations of work and rest. The system wakes a goroutine after a millisecond at the
// earliest.
const (
	workTime           = 500 * time.Microsecond
	workTimeCatchingUp = 4 * time.Millisecond
	restTime           = time.Millisecond
	contendedRest      = 3 * time.Millisecond // a rest takes at least this long if other work waits
)

// recordWorkStart records that the writer begins to work, after a rest. sleepIfDue compares the time
// since then with the permitted work time.
func (b *writeThrottle) recordWorkStart() { b.workStarted = time.Now() }

// sleepIfDue lets the writer sleep for a short time if it has worked long enough since the
// last rest.
func (b *writeThrottle) sleepIfDue() {
	most := workTime
	if b.catchingUp && !b.contended {
		most = workTimeCatchingUp
	}
	if time.Since(b.workStarted) < most {
		return
	}
	ended := time.Now()
	b.sleep(restTime)
	b.recordWorkStart()
	b.contended = b.workStarted.Sub(ended) >= contendedRest
}
