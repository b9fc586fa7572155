package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// OpenLoop is an open loop: arrivals start at their times, independent of earlier ones.
//
// The schedule is computed beforehand. One goroutine walks through it and gives each
// arrival to the connection that became idle last, so that no more connections are used
// than needed. An arrival has its due time. A latency from that time includes any delay by
// the clock, a goroutine, or a missing idle connection. Rejected: a goroutine and a
// connection for each arrival, because a stall of the server would cause new connections,
// which prolong it.
//
// The number of connections is fixed. While all are busy, arrivals wait, and the loop is
// closed. The loop counts these waits, and measures how late each arrival started. Check
// both before you read the latencies.
type OpenLoop struct {
	Addr        string
	Connections int // requests in flight, at most
	Schedule    []Slot
	First       uint64 // number of the first arrival

	// Sleep waits for the next arrival. The runtime's timers may be a millisecond late.
	Sleep func(time.Duration)
	// Handler returns the function that handles the arrivals of a connection. Only one
	// goroutine calls it.
	Handler func(line int) func(*Conn, Arrival)
	// OnStart, if not nil, receives the time from which offsets count.
	OnStart func(time.Time)
	// Stop, if not nil, ends the loop when it is closed.
	Stop <-chan struct{}
}

// Slot is the scheduled time of an arrival.
type Slot struct {
	After time.Duration // since the start
	Part  int           // part of the schedule
}

// Arrival is one arrival.
type Arrival struct {
	Number   uint64
	Due      time.Time
	Part     int
	Measured bool // the part is not 0
}

// OpenStats describes how well an open loop kept to its schedule.
type OpenStats struct {
	Arrivals uint64
	Full     uint64                  // arrivals that found all connections busy
	Lag      *hdrhistogram.Histogram // delay from the due time to the start
}

// Schedule returns arrivals for a warm-up, which is part 0, and a measured time, which is
// part 1.
func Schedule(arrivals Arrivals, warmup, lasting time.Duration) (slots []Slot) {
	for at := arrivals(); at < warmup+lasting; at += arrivals() {
		part := 0
		if at >= warmup {
			part = 1
		}
		slots = append(slots, Slot{at, part})
	}
	return slots
}

// Run runs the schedule and waits until all arrivals were handled.
func (o *OpenLoop) Run() OpenStats {
	stats := OpenStats{Lag: newHistogram()}
	lines := make([]openWorker, o.Connections)
	free := idleStack{freed: make(chan struct{}, 1)}
	var running sync.WaitGroup
	for i := range lines {
		l := &lines[i]
		l.conn.addr, l.next = o.Addr, make(chan Arrival, 1)
		handle := o.Handler(i)
		free.push(l)
		running.Go(func() {
			defer l.conn.Close()
			for arrival := range l.next {
				handle(&l.conn, arrival)
				free.push(l)
			}
		})
	}
	begin := time.Now()
	if o.OnStart != nil {
		o.OnStart(begin)
	}
	for i, slot := range o.Schedule {
		due := begin.Add(slot.After)
		for wait := time.Until(due); wait > 0; wait = time.Until(due) { // a signal may interrupt the sleep
			o.Sleep(wait)
		}
		if o.stopped() {
			break
		}
		l, waited := free.pop()
		if waited {
			stats.Full++
		}
		recordLatency(stats.Lag, max(0, time.Since(due)))
		stats.Arrivals++
		l.next <- Arrival{Number: o.First + uint64(i), Due: due, Part: slot.Part, Measured: slot.Part > 0}
	}
	for i := range lines {
		close(lines[i].next)
	}
	running.Wait()
	return stats
}

func (o *OpenLoop) stopped() bool {
	select {
	case <-o.Stop:
		return true
	default:
		return false
	}
}

// openWorker is a connection with its next arrival.
type openWorker struct {
	conn Conn
	next chan Arrival
}

// idleStack holds the idle workers; the last one to become idle is on top.
type idleStack struct {
	mu      sync.Mutex
	workers []*openWorker
	freed   chan struct{} // has a value if a worker became idle since the last receive
}

func (s *idleStack) push(l *openWorker) {
	s.mu.Lock()
	s.workers = append(s.workers, l)
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// pop waits while no worker is idle.
func (s *idleStack) pop() (l *openWorker, waited bool) {
	for {
		s.mu.Lock()
		if top := len(s.workers) - 1; top >= 0 {
			l = s.workers[top]
			s.workers = s.workers[:top]
		}
		s.mu.Unlock()
		if l != nil {
			return l, waited
		}
		waited = true
		<-s.freed
	}
}
