package server

import (
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// maxDeliveries bounds a listing.
const maxDeliveries = 1000

// deliveries lists open deliveries, oldest first; ?state=unknown only those
// that wait for an operator.
func (a *Admin) deliveries(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	only := string(ctx.QueryArgs().Peek("state"))
	switch only {
	case "", market.DeliveryPending.String(), market.DeliveryUnknown.String():
	default:
		a.fail(ctx, faultPayload, market.FieldError{Field: "state", Code: errcode.FieldNotAllowedValue, Expected: "pending or unknown"})
		return
	}
	var open []*state.Post
	e.State().Posts(func(p *state.Post) {
		if only == "" || only == stateOf(p) {
			open = append(open, p)
		}
	})
	slices.SortFunc(open, func(x, y *state.Post) int { return int(x.Decided - y.Decided) })
	body := []byte(`{"total":`)
	body = strconv.AppendInt(body, int64(len(open)), 10)
	body = append(body, `,"deliveries":[`...)
	for i, post := range open[:min(len(open), maxDeliveries)] {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendDelivery(body, e.State(), post)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func stateOf(p *state.Post) string {
	if p.Unknown {
		return market.DeliveryUnknown.String()
	}
	return market.DeliveryPending.String()
}

func appendDelivery(body []byte, s *state.State, post *state.Post) []byte {
	body = post.Lead.AppendTo(append(body, `{"lead_id":"`...))
	body = append(append(body, `","state":"`...), stateOf(post)...)
	body = market.AppendJSONString(append(body, `","buyer_id":`...), []byte(s.NameOf(event.NameBuyer, post.Sale.Buyer)))
	body = strconv.AppendUint(append(body, `,"attempts":`...), uint64(post.Attempts), 10)
	body = time.Unix(0, post.Decided).UTC().AppendFormat(append(body, `,"decided_at":"`...), time.RFC3339Nano)
	body = post.Sale.Price.AppendJSON(append(body, `","price":{"amount":`...))
	body = append(append(append(body, `,"currency":"`...), post.Sale.Currency[:]...), `"}`...)
	if post.Sale.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}

// resolve takes an operator's word on a delivery: resend, confirm or release.
func (a *Admin) resolve(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	name := parameter(ctx, "lead")
	lead, ok := market.ParseLeadID(name)
	if !ok {
		a.fail(ctx, fault{404, errcode.NotFound, "There is no lead of this id."})
		return
	}
	settlements := map[string]event.Settlement{
		"resend": event.SettledResent, "confirm": event.SettledConfirmed, "release": event.SettledReleased,
	}
	word := parameter(ctx, "how")
	how, ok := settlements[word]
	if !ok {
		a.fail(ctx, faultNotFound)
		return
	}
	if err := e.By(actorOf(ctx)).Resolve(lead, how); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// pause shuts a campaign or a buyer, or opens it.
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
