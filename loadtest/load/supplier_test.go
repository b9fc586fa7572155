package load

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
)

func supplierOf(addr string) *Supplier {
	return NewSupplier(Ingest{Leads: testLeads, Host: addr, Key: "key"})
}

func TestEveryLeadIsCountedByItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		answer                func(*fasthttp.RequestCtx)
		done, refused, broken uint64
		message               string
	}{
		"sold":       {says(201, `{"data":{"status":"ACCEPTED"}}`), 1, 0, 0, ""},
		"not sold":   {says(201, `{"data":{"status":"UNMATCHED"}}`), 0, 1, 0, "UNMATCHED"},
		"refused":    {says(429, `{"error":"rate_limited"}`), 0, 1, 0, "status 429"},
		"unanswered": {hangUp, 0, 0, 1, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			_, addr := serve(t, test.answer)
			line, s := NewConn(addr), supplierOf(addr)
			defer line.Close()
			s.Handle(line, Arrival{Number: 1, Due: time.Now(), Measured: true})
			if s.Sent != 1 || s.Done != test.done || s.Refused != test.refused || s.Broken != test.broken || !strings.Contains(s.FirstError, test.message) {
				t.Errorf("%+v", s.Result)
			}
			if s.Latency.TotalCount() != int64(test.done) || (s.Err() == nil) != (test.done == 1) {
				t.Errorf("%d in the histogram, error %v", s.Latency.TotalCount(), s.Err())
			}
		})
	}
}

func TestLeadLatencyCountsFromTheDueTime(t *testing.T) {
	_, addr := serve(t, says(201, `"ACCEPTED"`))
	line, s := NewConn(addr), supplierOf(addr)
	defer line.Close()
	s.Handle(line, Arrival{Number: 1, Due: time.Now().Add(-time.Second), Measured: true})
	s.Handle(line, Arrival{Number: 2, Due: time.Now().Add(-time.Hour)}) // in the warm-up
	if s.Sent != 2 || s.Done != 1 || s.At(100) < 990*time.Millisecond || s.At(100) > time.Minute {
		t.Errorf("%+v, most %s", s.Result, s.At(100))
	}
}

// Each requested lead is sent once, and the suppliers' results add up.
func TestSendSendsEachLeadOnce(t *testing.T) {
	var mu sync.Mutex
	keys := map[string]int{}
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		mu.Lock()
		keys[string(ctx.Request.Header.Peek("Idempotency-Key"))]++
		mu.Unlock()
		says(201, `"ACCEPTED"`)(ctx)
	})
	line := NewConn(addr)
	defer line.Close()
	one, other := supplierOf(addr), supplierOf(addr)
	must.Succeed(t, one.Send(line, 10, 3))
	must.Succeed(t, other.Send(line, 20, 2))
	for _, key := range []string{"lead-10", "lead-11", "lead-12", "lead-20", "lead-21"} {
		if keys[key] != 1 {
			t.Errorf("%s was sent %d times", key, keys[key])
		}
	}
	if sum := SumSuppliers([]*Supplier{one, other}); len(keys) != 5 || sum.Sent != 5 || sum.Latency.TotalCount() != 0 {
		t.Errorf("%d keys, %+v", len(keys), sum)
	}
}
