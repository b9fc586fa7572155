package admin

import (
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
	"pingpost/server/httperror"
)

// maxDeliveries is the most deliveries in an answer.
const maxDeliveries = 1000

// listDeliveries lists open deliveries, oldest first; with ?state=unknown only those that
// wait for an operator.
func (a *Admin) listDeliveries(ctx *fasthttp.RequestCtx) {
	e := a.requireEngine(ctx)
	if e == nil {
		return
	}
	only := string(ctx.QueryArgs().Peek("state"))
	switch only {
	case "", market.DeliveryPending.String(), market.DeliveryUnknown.String():
	default:
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: "state", Code: errcode.FieldNotAllowedValue, Expected: "pending or unknown"})
		return
	}
	var open []*state.OpenPost
	e.State().EachOpenPost(func(p *state.OpenPost) {
		if only == "" || only == deliveryStateOf(p) {
			open = append(open, p)
		}
	})
	slices.SortFunc(open, func(x, y *state.OpenPost) int { return int(x.Decided - y.Decided) })
	body := []byte(`{"total":`)
	body = strconv.AppendInt(body, int64(len(open)), 10)
	body = append(body, `,"deliveries":[`...)
	for i, post := range open[:min(len(open), maxDeliveries)] {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendDelivery(body, e.State(), post)
	}
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func deliveryStateOf(p *state.OpenPost) string {
	if p.Exhausted {
		return market.DeliveryUnknown.String()
	}
	return market.DeliveryPending.String()
}

func appendDelivery(body []byte, s *state.State, post *state.OpenPost) []byte {
	body = post.Lead.AppendTo(append(body, `{"lead_id":"`...))
	body = append(append(body, `","state":"`...), deliveryStateOf(post)...)
	body = escape.AppendJSONString(append(body, `","buyer_id":`...), []byte(s.NameOf(event.ObjectBuyer, post.Sale.Buyer)))
	body = strconv.AppendUint(append(body, `,"attempts":`...), uint64(post.Attempts), 10)
	body = time.Unix(0, post.Decided).UTC().AppendFormat(append(body, `,"decided_at":"`...), time.RFC3339Nano)
	body = post.Sale.Price.AppendJSON(append(body, `","price":{"amount":`...))
	body = append(append(append(body, `,"currency":"`...), post.Sale.Currency[:]...), `"}`...)
	if post.Sale.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}

// resolveDelivery applies an operator's decision on an unknown delivery: resend, confirm or
// release.
func (a *Admin) resolveDelivery(ctx *fasthttp.RequestCtx) {
	e := a.requireEngine(ctx)
	if e == nil {
		return
	}
	name := pathParameter(ctx, "lead")
	lead, ok := market.ParseLeadID(name)
	if !ok {
		a.sendError(ctx, httperror.New(404, errcode.NotFound, "There is no lead of this id."))
		return
	}
	settlements := map[string]event.Settlement{
		"resend": event.SettledResent, "confirm": event.SettledConfirmed, "release": event.SettledReleased,
	}
	word := pathParameter(ctx, "how")
	how, ok := settlements[word]
	if !ok {
		a.sendError(ctx, httperror.NotFound)
		return
	}
	if err := e.By(actorOf(ctx)).Resolve(lead, how); err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// pauseHandler pauses or resumes a campaign or a buyer.
func (a *Admin) pauseHandler(kind string, paused bool) fasthttp.RequestHandler {
	target := event.ObjectCampaign
	if kind == "buyers" {
		target = event.ObjectBuyer
	}
	return func(ctx *fasthttp.RequestCtx) {
		e := a.requireEngine(ctx)
		if e == nil {
			return
		}
		id := pathParameter(ctx, "id")
		if err := e.By(actorOf(ctx)).Pause(target, id, paused); err != nil {
			a.sendEngineError(ctx, err)
			return
		}
		ctx.SetStatusCode(fasthttp.StatusNoContent)
	}
}
