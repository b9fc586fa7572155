package load

import (
	"sync"
	"time"
)

// ClosedLoop is a closed loop: a number of connections, each with one request in flight.
// Each connection is a goroutine, and they share no data until all have ended. No number is sent
// twice: connection c sends First+c, and then every Connections-th number after it.
type ClosedLoop struct {
	Addr        string
	Connections int
	Warmup      time.Duration // not measured
	Duration    time.Duration // measured
	First       uint64        // number of the first request

	// Handler returns the function that handles the arrivals of a connection. An arrival is due
	// as soon as the previous one was handled.
	Handler func(line int) func(*Conn, Arrival)
}

// answerTimeout limits the wait for a connection or an answer.
const answerTimeout = 30 * time.Second

// Run runs the loop. It returns the number after the highest one sent.
func (c *ClosedLoop) Run() (next uint64) {
	begin := time.Now().Add(c.Warmup)
	end := begin.Add(c.Duration)
	unsent := make([]uint64, c.Connections) // the first number that each connection did not send
	var running sync.WaitGroup
	for i := range unsent {
		handle := c.Handler(i)
		running.Go(func() {
			conn := NewConn(c.Addr)
			defer conn.Close()
			n := c.First + uint64(i)
			for due := time.Now(); due.Before(end); due = time.Now() {
				handle(conn, Arrival{Number: n, Due: due, Measured: !due.Before(begin)})
				n += uint64(c.Connections)
			}
			unsent[i] = n
		})
	}
	running.Wait()
	for _, n := range unsent {
		next = max(next, n)
	}
	return next
}
