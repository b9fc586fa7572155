package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/timing"
)

// ingestTraced ingests a lead with the trace and returns its timings.
func (x *testExchange) ingestTraced(trace *timing.RequestTrace) *timing.Timings {
	request := x.ingestRequest(leadRequest(1))
	request.Timings = &timing.Timings{Trace: trace}
	if _, err := x.engine.Ingest(request); err != nil {
		x.t.Error(err)
	}
	return request.Timings
}

// describeCalls lists the calls of a trace, with times since the given moment.
func describeCalls(trace *timing.RequestTrace, since time.Time) string {
	var calls []string
	for i := range trace.Calls {
		c := &trace.Calls[i]
		from, to := time.Duration(c.From-since.UnixNano()), time.Duration(c.To-since.UnixNano())
		calls = append(calls, fmt.Sprintf("%s@%s-%s %s", c.Buyer, from, to, c.Outcome))
	}
	return strings.Join(calls, ", ")
}

// A trace has all attempts until the supplier's answer, and does not change later.
func TestTraceRecordsDeliveryAttempts(t *testing.T) {
	for _, row := range []struct {
		name       string
		blue, gold []postReply
		want       string
	}{
		{"accepted", []postReply{accepts.after(120 * ms)}, nil, "blue@0s-120ms accepted"},
		{"refused", []postReply{refuses.after(300 * ms)}, []postReply{accepts.after(200 * ms)}, "blue@0s-300ms refused, gold@300ms-500ms accepted"},
		{"busy", []postReply{busy(2 * time.Second), accepts.after(100 * ms)}, nil, "blue@0s-0s busy, blue@2s-2.1s accepted"},
		{"three server errors", []postReply{serverError, serverError, serverError, accepts}, nil, "blue@0s-0s unknown, blue@1s-1s unknown, blue@3s-3s unknown"},
		{"pending at the answer", []postReply{accepts.after(9999 * ms)}, nil, "blue@0s-5s pending"},
		{"second buyer pending at the answer", []postReply{refuses.after(4 * time.Second)}, []postReply{accepts.after(3 * time.Second)}, "blue@0s-4s refused, gold@4s-5s pending"},
	} {
		runWithExchange(t, row.name, twoPostBuyers(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", row.blue...)
			x.buyers.scriptPosts("gold", row.gold...)
			began, trace := time.Now(), &timing.RequestTrace{ID: [16]byte{1}, Span: 1<<64 - 2}
			timings := x.ingestTraced(trace)
			expectEqual(t, describeCalls(trace, began), row.want, "calls at the answer")
			commits := int64(0)
			for _, c := range trace.Commits {
				commits += c.To - c.From
			}
			if len(trace.Commits) == 0 || commits != timings.Log {
				t.Errorf("%d commits with %d ns in total, want %d ns", len(trace.Commits), commits, timings.Log)
			}
			ids := map[uint64]bool{0: true}
			for i := range trace.Calls {
				if id := trace.Calls[i].Span; ids[id] {
					t.Errorf("call %d has zero or repeated span id %d", i, id)
				} else {
					ids[id] = true
				}
			}
			if trace.Lead.IsZero() || trace.Campaign == "" || trace.Held != (timing.TimeSpan{}) {
				t.Errorf("want lead and campaign, and no Held: %+v", trace)
			}
			time.Sleep(5 * time.Minute)
			expectEqual(t, describeCalls(trace, began), row.want, "calls later")
		})
	}
}

// Calls above the limit are counted only.
func TestTraceCallLimit(t *testing.T) {
	runWithExchange(t, "three attempts", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", busy(ms), busy(ms), accepts)
		const most = 1024
		trace := &timing.RequestTrace{Calls: make([]timing.BuyerCall, most-1)}
		x.ingestTraced(trace)
		if len(trace.Calls) != most || trace.LeftOut != 2 || trace.Calls[most-1].Outcome != "busy" {
			t.Errorf("%d calls, the last %+v; %d left out, want 2", len(trace.Calls), trace.Calls[len(trace.Calls)-1], trace.LeftOut)
		}
	})
}
