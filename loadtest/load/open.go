package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Open is an open loop: arrivals come when they come, whatever has become of
// those before.
//
// The calendar is made before the first arrival. One goroutine goes through it
// and hands each arrival to the line that was free last, so that few connections
// are in use as long as few are needed. An arrival is told when it was due, and
// what is measured from that moment has in it what it waited for a late clock, a
// late goroutine or a free line. (Rejected: a goroutine and a connection an
// arrival. A stall of the server would then be made longer by the connections
// that it causes.)
//
// There are so many lines and no more. Where all are busy an arrival waits for
// one, and for as long as that lasts the loop is closed: so each such wait is
// counted, and so is how late every arrival began for the loop's own reasons. Who
// reads the latencies has to read these two first.
type Open struct {
	Addr     string
	Lines    int // requests under way at once, at most
	Calendar []Slot
	From     uint64 // number of the first arrival

	// Sleep waits for the next arrival. The runtime's own timers may be a
	// millisecond late.
	Sleep func(time.Duration)
	// Visit returns what a line does with an arrival. Each line has one of its
	// own, which nothing else calls.
	Visit func(line int) func(*Line, Arrival)
	// Begun, where it is not nil, is told when the first arrival's time counts from.
	Begun func(time.Time)
	// Stop, where it is not nil, is closed when no more arrivals are to come.
	Stop <-chan struct{}
}

// Slot is when somebody comes.
type Slot struct {
	After time.Duration // the beginning
	Part  int           // of the calendar's parts, in which it is
}

// Arrival is somebody who came.
type Arrival struct {
	Number   uint64
	Due      time.Time
	Part     int
	Measured bool // it is in no part 0
}

// Passed is what an open loop says of itself.
type Passed struct {
	Arrivals uint64
	Full     uint64                  // arrivals that found every line busy
	Lag      *hdrhistogram.Histogram // how late arrivals were handed out or, where all lines were busy, picked up
}

// Calendar has arrivals through a warm-up, which is part 0, and a measured time
// after it, which is part 1.
func Calendar(arrivals Arrivals, warmup, lasting time.Duration) (slots []Slot) {
	for at := arrivals(); at < warmup+lasting; at += arrivals() {
		part := 0
		if at >= warmup {
			part = 1
		}
		slots = append(slots, Slot{at, part})
	}
	return slots
}

// Run goes through the calendar and waits until every arrival was visited.
func (o *Open) Run() Passed {
	passed := Passed{Lag: newHistogram()}
	lines := make([]lane, o.Lines)
	free := stack{freed: make(chan struct{}, 1)}
	var running sync.WaitGroup
	for i := range lines {
		l := &lines[i]
		l.line.addr, l.next = o.Addr, make(chan Arrival, 1)
		visit := o.Visit(i)
		free.put(l)
		running.Go(func() {
			defer l.line.Close()
			for arrival := range l.next {
				visit(&l.line, arrival)
				free.put(l)
			}
		})
	}
	begin := time.Now()
	if o.Begun != nil {
		o.Begun(begin)
	}
	for i, slot := range o.Calendar {
		due := begin.Add(slot.After)
		for wait := time.Until(due); wait > 0; wait = time.Until(due) { // a sleep may be cut short
			o.Sleep(wait)
		}
		if o.stopped() {
			break
		}
		l, waited := free.take()
		if waited {
			passed.Full++
		}
		record(passed.Lag, max(0, time.Since(due)))
		passed.Arrivals++
		l.next <- Arrival{Number: o.From + uint64(i), Due: due, Part: slot.Part, Measured: slot.Part > 0}
	}
	for i := range lines {
		close(lines[i].next)
	}
	running.Wait()
	return passed
}

func (o *Open) stopped() bool {
	select {
	case <-o.Stop:
		return true
	default:
		return false
	}
}

// lane is a line with the arrival that it is to visit next.
type lane struct {
	line Line
	next chan Arrival
}

// stack is the lines that are free, the last one to become so on top.
type stack struct {
	mu    sync.Mutex
	lanes []*lane
	freed chan struct{} // a value since a line became free
}

func (s *stack) put(l *lane) {
	s.mu.Lock()
	s.lanes = append(s.lanes, l)
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// take waits for a line where none is free.
func (s *stack) take() (l *lane, waited bool) {
	for {
		s.mu.Lock()
		if top := len(s.lanes) - 1; top >= 0 {
			l = s.lanes[top]
			s.lanes = s.lanes[:top]
		}
		s.mu.Unlock()
		if l != nil {
			return l, waited
		}
		waited = true
		<-s.freed
	}
}
