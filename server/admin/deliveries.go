package admin

import (
	"slices"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// maxDeliveries is the greatest number of deliveries in one answer.
const maxDeliveries = 1000

// listUnfinishedDeliveries lists the leads with an unfinished delivery to a buyer, oldest first, at most
// maxDeliveries. With ?state=unknown it lists only deliveries that wait for an operator's decision.
func (a *Admin) listUnfinishedDeliveries(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	only := string(ctx.QueryArgs().Peek("state"))
	switch only {
	case "", market.DeliveryPending.String(), market.DeliveryUnknown.String():
	default:
		return nil, payload.NewInvalidFieldError("state", errcode.FieldNotAllowedValue, "pending or unknown")
	}
	var open []*state.UnfinishedPost
	e.State().EachUnfinishedPost(func(p *state.UnfinishedPost) {
		if only == "" || only == deliveryStateName(p) {
			open = append(open, p)
		}
	})
	slices.SortFunc(open, func(x, y *state.UnfinishedPost) int { return int(x.Decided - y.Decided) })
	list := struct {
		Total      int                  `json:"total"`
		Deliveries []unfinishedDelivery `json:"deliveries"`
	}{len(open), []unfinishedDelivery{}}
	for _, post := range open[:min(len(open), maxDeliveries)] {
		list.Deliveries = append(list.Deliveries, newUnfinishedDelivery(e.State(), post))
	}
	return list, nil
}

func deliveryStateName(p *state.UnfinishedPost) string {
	if p.Exhausted {
		return market.DeliveryUnknown.String()
	}
	return market.DeliveryPending.String()
}

// unfinishedDelivery is an unfinished delivery of a lead to a buyer, in JSON.
type unfinishedDelivery struct {
	Lead     string `json:"lead_id"`
	State    string `json:"state"`
	Buyer    string `json:"buyer_id"`
	Attempts uint64 `json:"attempts"`
	Decided  string `json:"decided_at"`
	Price    struct {
		Amount   market.Money `json:"amount"`
		Currency string       `json:"currency"`
	} `json:"price"`
	Test bool `json:"test,omitempty"`
}

func newUnfinishedDelivery(s *state.State, post *state.UnfinishedPost) unfinishedDelivery {
	d := unfinishedDelivery{
		Lead: post.Lead.String(), State: deliveryStateName(post), Buyer: s.NameOf(event.ObjectBuyer, post.Sale.Buyer),
		Attempts: uint64(post.Attempts), Decided: payload.FormatTimeWithNanos(post.Decided), Test: post.Sale.Test,
	}
	d.Price.Amount, d.Price.Currency = post.Sale.Price, post.Sale.Currency.String()
	return d
}

// resolveUnconfirmedDelivery carries out an operator's decision on a delivery with an unknown result.
// resend posts the lead again, confirm counts it as sold, and release gives it back as unsold.
func (a *Admin) resolveUnconfirmedDelivery(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	name := payload.PathParameter(ctx, "lead")
	lead, ok := market.ParseLeadID(name)
	if !ok {
		return nil, httperror.New(404, errcode.NotFound, "There is no lead of this id.")
	}
	settlements := map[string]event.PostSettlement{
		"resend": event.SettledResent, "confirm": event.SettledConfirmed, "release": event.SettledReleased,
	}
	word := payload.PathParameter(ctx, "how")
	how, ok := settlements[word]
	if !ok {
		return nil, httperror.NotFound
	}
	return nil, e.AsOperator(callerNameOf(ctx)).ResolveUnconfirmedDelivery(lead, how)
}

// pauseOrResumeHandler returns the handler that pauses a campaign or buyer, or, with pause unset,
// resumes it. objectKind is "campaigns" or "buyers".
func (a *Admin) pauseOrResumeHandler(objectKind string, pause bool) fasthttp.RequestHandler {
	target := event.ObjectCampaign
	if objectKind == "buyers" {
		target = event.ObjectBuyer
	}
	return a.withEngine(func(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
		return nil, e.AsOperator(callerNameOf(ctx)).SetCampaignOrBuyerPaused(target, payload.PathParameter(ctx, "id"), pause)
	})
}
