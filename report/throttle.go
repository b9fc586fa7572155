package report

import (
	"runtime"
	"time"

	"pingpost/report/cpuwait"
)

// writeThrottle limits the share of a processor that the writer uses, because the writer shares the
// processors with the handling of leads. It lets the writer alternate between short work and short
// rests: a lead that arrives during a long uninterrupted write waits for its end, which shows in the
// slowest hundredth of leads.
//
// While threads of this process wait for a processor, the share halves at each measurement, down to 4 % of
// all processors or less. Otherwise it doubles, up to highestShareCatchingUp. So the writer falls behind
// while leads need all processors, and catches up afterwards.
//
// Rejected: a thread of low priority. The garbage collector would have to wait for it, and
// everything else for the collector. Rejected: a fixed share, which is too much for a busy machine or
// too little for an idle one. Rejected: the lateness of rests as the measurement. It showed nothing while
// leads used all processors, and the writer took a third of one.
//
// It is used by one goroutine.
type writeThrottle struct {
	sleep          func(time.Duration)
	waitingThreads func() (average float64, isKnown bool)
	least          float64 // lowest share
	catchingUp     bool    // the last transaction left entries unread
	contended      bool    // threads waited during the last measurement
	share          float64 // of one processor
	workStarted    time.Time
	measured       time.Time
}

const (
	highestShare           = 1.0 / 3
	highestShareCatchingUp = 4.0 / 5
	leastShare             = 0.04 // of all processors

	shortestWork    = 200 * time.Microsecond
	longestWork     = time.Millisecond       // more does not lengthen a rest: it may have been a wait for a processor
	shortestRest    = time.Millisecond       // the system wakes a goroutine after a millisecond at the earliest
	measureInterval = 250 * time.Millisecond // a measurement takes some 16 µs for each thread

	// contendedThreads is the average number of waiting threads from which on the processors count as busy.
	// On one processor, 0.2 to 0.8 threads wait while leads use a third of it, because threads wake at the
	// same moments. At least 1.7 wait while leads use all of it.
	contendedThreads = 0.9
)

func newWriteThrottle() writeThrottle {
	return writeThrottle{
		sleep: time.Sleep, waitingThreads: cpuwait.NewMeter().WaitingThreads,
		least: min(highestShare, leastShare*float64(usableProcessors())), share: highestShareCatchingUp,
	}
}

// usableProcessors returns the processors that this process may use. The program lets Go use one more.
func usableProcessors() int { return max(1, runtime.GOMAXPROCS(0)-1) }

// recordWorkStart records that the writer begins to work, after a rest. sleepIfDue compares the time
// since then with the permitted work time.
func (b *writeThrottle) recordWorkStart() { b.workStarted = time.Now() }

// sleepIfDue lets the writer sleep for a short time if it has worked long enough since the
// last rest.
func (b *writeThrottle) sleepIfDue() {
	share := min(b.share, highestShare)
	if b.catchingUp {
		share = b.share
	}
	restPerWork := (1 - share) / share
	worked := time.Since(b.workStarted)
	if worked < max(shortestWork, time.Duration(float64(shortestRest)/restPerWork)) {
		return
	}
	b.sleep(max(shortestRest, time.Duration(float64(min(worked, longestWork))*restPerWork)))
	b.recordWorkStart()
	if b.workStarted.Sub(b.measured) >= measureInterval {
		b.measured = b.workStarted
		b.adjustShare()
	}
}

func (b *writeThrottle) adjustShare() {
	waiting, isKnown := b.waitingThreads()
	if !isKnown {
		return
	}
	if b.contended = waiting >= contendedThreads; b.contended {
		b.share = max(b.least, b.share/2)
	} else {
		b.share = min(highestShareCatchingUp, b.share*2)
	}
}
