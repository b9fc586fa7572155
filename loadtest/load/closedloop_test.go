package load

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"pingpost/internal/must"
)

// counter is a server that counts the keys of its requests.
type counter struct {
	mu     sync.Mutex
	keys   map[string]int
	answer func(ctx *fasthttp.RequestCtx)
}

func (c *counter) handle(ctx *fasthttp.RequestCtx) {
	c.mu.Lock()
	c.keys[string(ctx.Request.Header.Peek("Idempotency-Key"))]++
	c.mu.Unlock()
	c.answer(ctx)
}

func serve(t *testing.T, answer func(ctx *fasthttp.RequestCtx)) (c *counter, addr string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	c = &counter{keys: map[string]int{}, answer: answer}
	server := &fasthttp.Server{Handler: c.handle, CloseOnShutdown: true}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before,
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
	})
	return c, listener.Addr().String()
}

// runClosed sends leads in a closed loop, and adds up the results of its connections.
func runClosed(addr string, connections int, warmup, duration time.Duration) (sum Result, next uint64) {
	clients := make([]*Client, connections)
	loop := ClosedLoop{
		Addr: addr, Connections: connections, Warmup: warmup, Duration: duration, First: 1000,
		Handler: func(line int) func(*Conn, Arrival) {
			clients[line] = NewSupplier(Ingest{Leads: testLeads, Host: addr, Key: "k"})
			return clients[line].Handle
		},
	}
	next, sum = loop.Run(), NewResult()
	for _, c := range clients {
		sum.Add(&c.Result)
	}
	return sum, next
}

var sold = says(fasthttp.StatusCreated, `"ACCEPTED"`)

func TestEveryRequestIsSentOnceAndEveryAnswerCounted(t *testing.T) {
	for _, connections := range []int{1, 7} {
		server, addr := serve(t, sold)
		r, next := runClosed(addr, connections, 0, 100*time.Millisecond)
		must.Succeed(t, r.Err())
		for key, times := range server.keys {
			if times != 1 {
				t.Errorf("%s was sent %d times", key, times)
			}
		}
		if n := uint64(len(server.keys)); n == 0 || r.Done != n || r.Sent != n || next < 1000+n || r.Latency.TotalCount() != int64(r.Done) || r.Bytes != 10*r.Done {
			t.Errorf("%d requests came, the next would be %d: %+v", n, next, r)
		}
		if r.At(50) <= 0 || r.At(50) > r.At(100) {
			t.Errorf("median %v, most %v", r.At(50), r.At(100))
		}
		if r, _ := runClosed(addr, connections, 50*time.Millisecond, 0); r.Done != 0 || r.Sent == 0 {
			t.Errorf("%d of %d were measured in the warm-up", r.Done, r.Sent)
		}
	}
}

func TestABrokenConnectionIsReported(t *testing.T) {
	var once sync.Once
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		sold(ctx)
		once.Do(ctx.SetConnectionClose)
	})
	if r, _ := runClosed(addr, 4, 0, 100*time.Millisecond); r.Broken != 1 || r.Err() == nil || r.Done == 0 {
		t.Errorf("%d broken, %d measured: %v", r.Broken, r.Done, r.Err())
	}
}

func TestConnectionRefused(t *testing.T) {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := listener.Addr().String()
	listener.Close()
	if r, _ := runClosed(addr, 1, 0, 10*time.Millisecond); r.Done != 0 || r.Err() == nil {
		t.Error("a closed port was called without an error")
	}
}
