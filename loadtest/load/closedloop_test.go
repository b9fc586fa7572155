package load

import (
	"net"
	"strings"
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

func loopTo(addr string, connections int) *ClosedLoop {
	return &ClosedLoop{
		Addr: addr, Connections: connections, Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond, First: 1000,
		Requests: func() func([]byte, uint64) []byte {
			ingest := Ingest{Leads: testLeads, Host: addr, Key: "k"}
			return ingest.Append
		},
		Good: func(a Answer) bool { return a.Status == fasthttp.StatusCreated },
	}
}

func created(ctx *fasthttp.RequestCtx) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetBodyString("taken")
}

func TestEveryRequestIsSentOnceAndEveryAnswerCounted(t *testing.T) {
	for _, connections := range []int{1, 7} {
		server, addr := serve(t, created)
		r, err := loopTo(addr, connections).Run()
		if err != nil || r.Err() != nil {
			t.Fatal(err, r.Err())
		}
		for key, times := range server.keys {
			if times != 1 {
				t.Errorf("%s was sent %d times", key, times)
			}
		}
		if r.Done == 0 || r.Done > uint64(len(server.keys)) || r.Latency.TotalCount() != int64(r.Done) || r.Bytes != 5*r.Done {
			t.Errorf("%d requests came, %d were measured, %d in the histogram, %d bytes", len(server.keys), r.Done, r.Latency.TotalCount(), r.Bytes)
		}
		if r.Next < 1000+uint64(len(server.keys)) {
			t.Errorf("%d requests from 1000 on, and the next would be %d", len(server.keys), r.Next)
		}
		if r.Rate() != float64(r.Done)/0.1 || r.At(50) <= 0 || r.At(50) > r.At(100) {
			t.Errorf("rate %v, median %v, most %v", r.Rate(), r.At(50), r.At(100))
		}
	}
}

func TestUnexpectedAnswersAreNotMeasured(t *testing.T) {
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) { ctx.Error("full", fasthttp.StatusServiceUnavailable) })
	r := must.Value(loopTo(addr, 2).Run())(t)
	if r.Done != 0 || r.Refused == 0 || r.Err() == nil || !strings.Contains(r.Err().Error(), "status 503: full") {
		t.Errorf("%d measured, %d refused: %v", r.Done, r.Refused, r.Err())
	}
}

func TestABrokenConnectionIsReported(t *testing.T) {
	var once sync.Once
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		created(ctx)
		once.Do(ctx.SetConnectionClose)
	})
	r := must.Value(loopTo(addr, 4).Run())(t)
	if r.Broken != 1 || r.Err() == nil || r.Done == 0 {
		t.Errorf("%d broken, %d measured: %v", r.Broken, r.Done, r.Err())
	}
}

func TestConnectionRefused(t *testing.T) {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := listener.Addr().String()
	listener.Close()
	if _, err := loopTo(addr, 1).Run(); err == nil {
		t.Error("a closed port was called without an error")
	}
}
