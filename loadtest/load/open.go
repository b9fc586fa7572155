package load

import (
	"sync"
	"time"
)

// Open is an open loop: arrivals come when they come, whatever has become of
// those before.
//
// The calendar is made before the first arrival. One goroutine goes through it
// and hands each arrival to whichever line is free, waiting where none is; those
// that fall due meanwhile keep their places. An arrival is told when it was due,
// and what is measured from that moment has in it what it waited for a late
// clock, a late goroutine or a free line. (Rejected: a goroutine and a connection an
// arrival. A stall of the server would then be made longer by the connections
// that it causes.)
type Open struct {
	Addr     string
	Lines    int
	Arrivals Arrivals
	Warmup   time.Duration // arrivals due in it are not measured
	Duration time.Duration // after it
	From     uint64        // number of the first arrival

	// Sleep waits for the next arrival. The runtime's own timers may be a
	// millisecond late.
	Sleep func(time.Duration)
	// Visit returns what a line does with an arrival. Each line has one of its
	// own, which nothing else calls.
	Visit func(line int) func(*Line, Arrival)
}

// Arrival is somebody who came.
type Arrival struct {
	Number   uint64
	Due      time.Time
	Measured bool
}

// Run goes through the calendar, waits until every arrival was visited, and
// returns how many there were.
func (o *Open) Run() uint64 {
	calendar := o.calendar()
	queue := make(chan Arrival)
	lines := make([]Line, o.Lines)
	var running sync.WaitGroup
	for i := range lines {
		lines[i].addr = o.Addr
		visit := o.Visit(i)
		running.Go(func() {
			defer lines[i].Close()
			for arrival := range queue {
				visit(&lines[i], arrival)
			}
		})
	}
	begin := time.Now()
	for i, after := range calendar {
		due := begin.Add(after)
		o.Sleep(time.Until(due))
		queue <- Arrival{Number: o.From + uint64(i), Due: due, Measured: after >= o.Warmup}
	}
	close(queue)
	running.Wait()
	return uint64(len(calendar))
}

// calendar is when each arrival is due after the beginning.
func (o *Open) calendar() (due []time.Duration) {
	for at := o.Arrivals(); at < o.Warmup+o.Duration; at += o.Arrivals() {
		due = append(due, at)
	}
	return due
}
