package webhook

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// TestOverSockets: one endpoint hangs, and ninety-nine hear everything, each event
// once; and nothing is left behind by a sender that was closed while attempts hang.
func TestOverSockets(t *testing.T) {
	const endpoints, events = 100, 20
	before := goleak.IgnoreCurrent()
	t.Run("", func(t *testing.T) {
		b := newBox()
		hanging := dialtest.Listen(t, dialtest.WriteAndHang(""))
		heard := []*dialtest.Endpoint{hanging}
		for range endpoints - 1 {
			heard = append(heard, dialtest.Listen(t, dialtest.Answer("200 OK", `{}`)))
		}
		c := client(t, nil)
		for lead := range byte(events) {
			for supplier := range market.Ref(endpoints) {
				b.owe(supplier+1, lead, posted, 0)
			}
		}
		s := b.send(t, func(o *Options) {
			o.Post = func(r *market.WebhookRequest) market.WebhookResult {
				theirs := *r
				e := heard[supplierOf(r)-1]
				theirs.Endpoint = market.Endpoint{URL: "http://" + e.Address + "/", Credential: "alone"}
				if e != hanging { // a busy machine's second is no endpoint's fault
					theirs.Deadline = time.Now().Add(ample)
				}
				return c.Post(&theirs)
			}
		})
		for end := time.Now().Add(3 * ample); b.left() > events; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d events are left", b.left())
			}
		}
		s.Close()
		if left := b.left(); left != events {
			t.Errorf("%d events are left, want the %d of the one that hangs", left, events)
		}
		for i, e := range heard[1:] {
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

// TestCloseOverSockets: an attempt that hangs ends at its deadline, and is a
// failure with its fact.
func TestCloseOverSockets(t *testing.T) {
	b := newBox()
	e := dialtest.Listen(t, dialtest.WriteAndHang(""))
	c := client(t, nil)
	b.owe(1, 0, posted, 0)
	var once sync.Once
	sending := make(chan struct{})
	s := b.send(t, func(o *Options) {
		o.Post = func(r *market.WebhookRequest) market.WebhookResult {
			once.Do(func() { close(sending) })
			theirs := *r
			theirs.Endpoint = market.Endpoint{URL: "http://" + e.Address + "/", Credential: "alone"}
			return c.Post(&theirs)
		}
	})
	<-sending
	s.Close()
	if got := b.only(); got.hook.Attempts != 1 || got.out {
		t.Errorf("after closing: %+v", got)
	}
}
