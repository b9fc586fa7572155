package webhook

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// One endpoint hangs, and the other ninety-nine receive each event once. A sender that was
// closed during hanging attempts leaves no goroutine behind.
func TestOverSockets(t *testing.T) {
	const count, events = 100, 20
	before := goleak.IgnoreCurrent()
	t.Run("", func(t *testing.T) {
		b := newFakeOutbox()
		hanging := dialtest.Listen(t, dialtest.WriteAndHang(""))
		endpoints := []*dialtest.Endpoint{hanging}
		for range count - 1 {
			endpoints = append(endpoints, dialtest.Listen(t, dialtest.Answer("200 OK", `{}`)))
		}
		c := newClient(t, nil)
		for lead := range byte(events) {
			for supplier := range market.Ref(count) {
				b.add(supplier+1, lead, posted, 0)
			}
		}
		s := b.startSender(t, func(o *Options) {
			o.Post = func(r *market.WebhookRequest) market.WebhookResult {
				request := *r
				e := endpoints[supplierOf(r)-1]
				request.Endpoint = market.Endpoint{URL: "http://" + e.Address + "/", Credential: "alone"}
				if e != hanging { // a busy machine may exceed the real timeout
					request.Deadline = time.Now().Add(longTimeout)
				}
				return c.Post(&request)
			}
		})
		for end := time.Now().Add(3 * longTimeout); b.pending() > events; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d events are left", b.pending())
			}
		}
		s.Close()
		if left := b.pending(); left != events {
			t.Errorf("%d events are left, want the %d of the one that hangs", left, events)
		}
		for i, e := range endpoints[1:] {
			ids := map[string]int{}
			for _, r := range e.Requests() {
				ids[r.Header.Get("webhook-id")]++
			}
			if len(ids) != events || len(e.Requests()) != events {
				t.Errorf("endpoint %d got %d requests for %d events", i+1, len(e.Requests()), len(ids))
			}
		}
	})
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
}
