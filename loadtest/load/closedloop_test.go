package load

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
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

// runClosed sends leads in a closed loop to the server that start starts, and adds up the results
// of its connections. On a busy machine a connection may not get its turn in a short time. So it
// starts over with twice the time until each connection has sent a number of requests.
func runClosed(connections int, atLeast uint64, warmup, duration time.Duration, start func() (addr string)) (sum Result, next uint64) {
	for giveUp := time.Now().Add(20 * time.Second); ; warmup, duration = 2*warmup, 2*duration {
		sum, fewest, next := runClosedOnce(start(), connections, warmup, duration)
		if fewest >= atLeast || time.Now().After(giveUp) {
			return sum, next
		}
	}
}

// runClosedOnce also returns the number of requests of the connection that sent the fewest.
func runClosedOnce(addr string, connections int, warmup, duration time.Duration) (sum Result, fewest, next uint64) {
	clients := make([]*Client, connections)
	loop := ClosedLoop{
		Addr: addr, Connections: connections, Warmup: warmup, Duration: duration, First: 1000,
		Handler: func(line int) func(*Conn, Arrival) {
			clients[line] = NewSupplier(Ingest{Leads: testLeads, Host: addr, Key: "k"})
			return clients[line].Handle
		},
	}
	next, sum = loop.Run(), NewResult()
	fewest = clients[0].Sent
	for _, c := range clients {
		sum.Add(&c.Result)
		fewest = min(fewest, c.Sent)
	}
	return sum, fewest, next
}

var sold = says(fasthttp.StatusCreated, `"ACCEPTED"`)

func TestEveryRequestIsSentOnceAndEveryAnswerCounted(t *testing.T) {
	for _, connections := range []int{1, 7} {
		var server *counter
		start := func() (addr string) { server, addr = serve(t, sold); return addr }
		r, next := runClosed(connections, 1, 0, 100*time.Millisecond, start)
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
		if r, _ := runClosed(connections, 1, 50*time.Millisecond, 0, start); r.Done != 0 || r.Sent == 0 {
			t.Errorf("%d of %d were measured in the warm-up", r.Done, r.Sent)
		}
	}
}

func TestABrokenConnectionIsReported(t *testing.T) {
	start := func() string {
		var once sync.Once
		_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
			sold(ctx)
			once.Do(ctx.SetConnectionClose)
		})
		return addr
	}
	if r, _ := runClosed(4, 2, 0, 100*time.Millisecond, start); r.Broken != 1 || r.Err() == nil || r.Done == 0 {
		t.Errorf("%d broken, %d measured: %v", r.Broken, r.Done, r.Err())
	}
}

func TestConnectionRefused(t *testing.T) {
	addr := dialtest.UnusedAddress(t)
	if r, _ := runClosed(1, 1, 0, 10*time.Millisecond, func() string { return addr }); r.Done != 0 || r.Err() == nil {
		t.Error("a closed port was called without an error")
	}
}
