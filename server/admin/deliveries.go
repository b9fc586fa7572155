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
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	only := string(ctx.QueryArgs().Peek("state"))
	switch only {
	case "", market.DeliveryPending.String(), market.DeliveryUnknown.String():
	default:
		a.fail(ctx, httperror.InvalidPayload, market.FieldError{Field: "state", Code: errcode.FieldNotAllowedValue, Expected: "pending or unknown"})
		return
	}
	var open []*state.OpenPost
	e.State().EachOpenPost(func(p *state.OpenPost) {
		if only == "" || only == stateOf(p) {
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

func stateOf(p *state.OpenPost) string {
	if p.Exhausted {
		return market.DeliveryUnknown.String()
	}
	return market.DeliveryPending.String()
}

func appendDelivery(body []byte, s *state.State, post *state.OpenPost) []byte {
	body = post.Lead.AppendTo(append(body, `{"lead_id":"`...))
	body = append(append(body, `","state":"`...), stateOf(post)...)
	body = escape.AppendJSONString(append(body, `","buyer_id":`...), []byte(s.NameOf(event.NameBuyer, post.Sale.Buyer)))
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
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	name := parameter(ctx, "lead")
	lead, ok := market.ParseLeadID(name)
	if !ok {
		a.fail(ctx, httperror.New(404, errcode.NotFound, "There is no lead of this id."))
		return
	}
	settlements := map[string]event.Settlement{
		"resend": event.SettledResent, "confirm": event.SettledConfirmed, "release": event.SettledReleased,
	}
	word := parameter(ctx, "how")
	how, ok := settlements[word]
	if !ok {
		a.fail(ctx, httperror.NotFound)
		return
	}
	if err := e.By(actorOf(ctx)).Resolve(lead, how); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// pause pauses or resumes a campaign or a buyer.
func (a *Admin) pause(what string, paused bool) fasthttp.RequestHandler {
	door := event.NameCampaign
	if what == "buyers" {
		door = event.NameBuyer
	}
	return func(ctx *fasthttp.RequestCtx) {
		e := a.engineOr503(ctx)
		if e == nil {
			return
		}
		id := parameter(ctx, "id")
		if err := e.By(actorOf(ctx)).Pause(door, id, paused); err != nil {
			a.failWith(ctx, err)
			return
		}
		ctx.SetStatusCode(fasthttp.StatusNoContent)
	}
}
