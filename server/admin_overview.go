package server

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
)

// Overseer tells of the process what an operator looks at first. It is asked once there
// is an engine.
type Overseer interface {
	Standing() Standing
	// Now is the exchange's own time, in Unix nanoseconds.
	Now() int64
}

// Standing is how a process stands.
type Standing struct {
	Tenant, Version string
	Since           time.Time
	Seq             uint64 // last entry of the log that is durable
	DiskFree        uint64
}

var faultStreams = fault{503, errcode.Unavailable, "As many are listening as may at once. Close a page that does, or ask again after the time in Retry-After."}

// overviews makes the overview, at most once a second however many ask.
type overviews struct {
	admin *Admin
	watch *watch
	today today

	mu   sync.Mutex
	at   time.Time
	made []byte
}

// overviewIsFresh is for how long an overview is told again as it is. It is less than
// a second, so that each event of a stream has its own.
const overviewIsFresh = 900 * time.Millisecond

// get is the overview as a document; nil: there is no engine.
func (o *overviews) get(now time.Time) []byte {
	e := o.admin.operator.Engine()
	if e == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.made == nil || now.Sub(o.at) >= overviewIsFresh || now.Before(o.at) {
		text, err := json.Marshal(o.make(now, e))
		if err != nil {
			panic("BUG: an overview is no document: " + err.Error())
		}
		o.made, o.at = append(text, '\n'), now
	}
	return o.made
}

// event is the overview as a stream tells it. What goes wrong while it is made ends the
// streams, and nothing else.
func (o *overviews) event() (event []byte) {
	defer func() {
		if cause := recover(); cause != nil {
			event = nil
			o.admin.meter.Fault("the overview cannot be made", fmt.Errorf("%v", cause))
		}
	}()
	document := o.get(time.Now())
	if document == nil {
		return nil
	}
	return eventOf("overview", document)
}

func (o *overviews) make(now time.Time, e *engine.Engine) *overview {
	g, s := o.watch.look(now), o.admin.operator.Standing()
	span := g.now.at.Sub(g.second.at)
	hooks := e.State().HookTotals()
	all := &overview{
		At: inUTC(now.UnixNano()), Tenant: s.Tenant, Version: s.Version, Sandbox: o.admin.operator.Sandbox(),
		Uptime: int64(now.Sub(s.Since) / time.Second), Ready: o.admin.operator.Ready() == nil,
		Rates: overviewRates{
			Leads: perSecond(g.now.leads, g.second.leads, span), Pings: perSecond(g.now.pings, g.second.pings, span),
			Posts: perSecond(g.now.posts, g.second.posts, span), Sold: perSecond(g.now.sold, g.second.sold, span),
		},
		Latency: latencyOf(&g), Series: []overviewStep{}, Buyers: o.buyers(e, &g),
		Webhooks: overviewHooks{hooks.Pending, hooks.Dead}, Returns: e.State().WaitingReturns(), Unknown: e.State().AllUnknown(),
		Backup: o.admin.operator.Backup(), Log: overviewLog{s.Seq}, DiskFree: s.DiskFree,
	}
	if leads := g.now.leads - g.whole.leads; leads > 0 {
		share := thousandths(float64(g.now.sold-g.whole.sold) / float64(leads))
		all.SellThrough = &share
	}
	for _, s := range g.steps {
		all.Series = append(all.Series, overviewStep{inUTC(s.at.UnixNano()), s.leads, s.sold, s.pings})
	}
	kept := o.admin.operator.Report()
	all.Today = o.today.sums(kept, now)
	if all.Report.Kept = kept != nil; kept != nil {
		lag := thousandths(kept.Status().Lag.Seconds())
		all.Report.Lag = &lag
	}
	return all
}

// overview answers how things stand: GET overview.
func (a *Admin) overview(ctx *fasthttp.RequestCtx) {
	document := a.overviews.get(time.Now())
	if document == nil {
		a.fail(ctx, faultUnavailable)
		return
	}
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetBody(document)
}

// listen answers with the overview now and each second from then on: GET live.
func (a *Admin) listen(ctx *fasthttp.RequestCtx) {
	first := a.live.tell()
	if first == nil {
		a.fail(ctx, faultUnavailable)
		return
	}
	who := askerOf(ctx)
	s := a.live.open(ctx.Conn(), who.name, first, func() bool { return a.stillIn(&who) })
	if s == nil {
		a.fail(ctx, faultStreams)
		return
	}
	s.answer(ctx)
}
