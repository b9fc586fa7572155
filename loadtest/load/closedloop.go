package load

import (
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ClosedLoop is a closed loop: a number of connections, each with one request in flight.
// Each connection is a goroutine with its own histogram and buffer, and they share no data
// until all have ended. No number is sent twice: connection c sends First+c, and then
// every Connections-th number after it.
type ClosedLoop struct {
	Addr        string
	Connections int
	Warmup      time.Duration // not measured
	Duration    time.Duration // measured
	First       uint64        // number of the first request

	// Requests returns a function for one connection. The function appends the request of
	// a number.
	Requests func() func(dst []byte, n uint64) []byte
	// Good reports whether an answer is as expected. Other answers are counted and not
	// measured.
	Good func(Answer) bool
}

// answerTimeout is the time that a connection waits for an answer after the end.
const answerTimeout = 30 * time.Second

// Run connects, runs the loop, and returns the result. The error means that a connection
// could not be made.
func (c *ClosedLoop) Run() (*Result, error) {
	conns := make([]net.Conn, 0, c.Connections)
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range c.Connections {
		conn, err := net.DialTimeout("tcp", c.Addr, answerTimeout)
		if err != nil {
			return nil, err
		}
		conns = append(conns, conn)
	}
	begin := time.Now().Add(c.Warmup)
	end := begin.Add(c.Duration)
	workers := make([]worker, c.Connections)
	var running sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		*w = worker{
			loop: c, conn: conns[i], next: c.First + uint64(i), begin: begin, end: end,
			result: Result{Latency: newHistogram()},
		}
		running.Go(w.run)
	}
	running.Wait()
	total := &Result{Seconds: c.Duration.Seconds(), Next: c.First, Latency: newHistogram()}
	for i := range workers {
		total.add(&workers[i].result)
		total.Next = max(total.Next, workers[i].next)
	}
	return total, nil
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(time.Minute), 3)
}

// worker is one connection.
type worker struct {
	loop       *ClosedLoop
	conn       net.Conn
	next       uint64
	begin, end time.Time
	result     Result
}

func (w *worker) run() {
	if err := w.conn.SetDeadline(w.end.Add(answerTimeout)); err != nil {
		w.result.addFailure(err.Error())
		return
	}
	write := w.loop.Requests()
	answers := answerReader{from: w.conn}
	var request []byte
	for {
		request = write(request[:0], w.next)
		sent := time.Now()
		if sent.After(w.end) {
			return
		}
		w.next += uint64(w.loop.Connections)
		w.result.Sent++
		if _, err := w.conn.Write(request); err != nil {
			w.result.addFailure(err.Error())
			return
		}
		answer, err := answers.read()
		if err != nil {
			w.result.addFailure(err.Error())
			return
		}
		w.count(answer, sent, time.Now())
	}
}

// count records an answer that arrived within the measured time. It counts unexpected
// answers at any time.
func (w *worker) count(answer Answer, sent, received time.Time) {
	if !w.loop.Good(answer) {
		w.result.addRefusal(answer)
		return
	}
	if received.Before(w.begin) || received.After(w.end) {
		return
	}
	w.result.Done++
	w.result.Bytes += uint64(len(answer.Body))
	recordLatency(w.result.Latency, received.Sub(sent))
}
