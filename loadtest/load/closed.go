package load

import (
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Closed is a closed loop: so many connections, each with one request under way
// at any time.
//
// Each connection is one goroutine with a histogram and a buffer of its own;
// they share nothing until all have ended. Requests are numbered so that no two
// connections ever send the same: connection c sends From+c, then every
// Connections-th after it.
type Closed struct {
	Addr        string
	Connections int
	Warmup      time.Duration // is not measured
	Duration    time.Duration // is measured
	From        uint64        // number of the first request

	// Requests returns a writer of requests, one a connection: it appends the
	// request of that number.
	Requests func() func(dst []byte, n uint64) []byte
	// Good judges an answer. One that is not good is counted and not measured.
	Good func(Answer) bool
}

// patience is how long a connection waits for an answer past the end.
const patience = 30 * time.Second

// Run connects, runs the loop to its end, and returns what was measured. The
// error says that no connection could be made.
func (c *Closed) Run() (*Result, error) {
	conns := make([]net.Conn, 0, c.Connections)
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range c.Connections {
		conn, err := net.DialTimeout("tcp", c.Addr, patience)
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
			loop: c, conn: conns[i], next: c.From + uint64(i), begin: begin, end: end,
			result: Result{Latency: newHistogram()},
		}
		running.Go(w.run)
	}
	running.Wait()
	total := &Result{Seconds: c.Duration.Seconds(), Next: c.From, Latency: newHistogram()}
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
	loop       *Closed
	conn       net.Conn
	next       uint64
	begin, end time.Time
	result     Result
}

func (w *worker) run() {
	if err := w.conn.SetDeadline(w.end.Add(patience)); err != nil {
		w.result.fail(err.Error())
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
			w.result.fail(err.Error())
			return
		}
		answer, err := answers.next()
		if err != nil {
			w.result.fail(err.Error())
			return
		}
		w.note(answer, sent, time.Now())
	}
}

// note counts an answer that came inside the measured time. One that is not
// good counts whenever it comes.
func (w *worker) note(answer Answer, sent, came time.Time) {
	if !w.loop.Good(answer) {
		w.result.refuse(answer)
		return
	}
	if came.Before(w.begin) || came.After(w.end) {
		return
	}
	w.result.Done++
	w.result.Bytes += uint64(len(answer.Body))
	record(w.result.Latency, came.Sub(sent))
}
