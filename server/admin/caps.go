package admin

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/state"
	"pingpost/server/httperror"
	"pingpost/server/wire"
)

// capListWriter encodes caps and their usage at now.
type capListWriter struct {
	state *state.State
	now   int64
	body  []byte
	n     int
}

// listCaps lists the usage of all caps of the current configuration: GET caps. A campaign
// selects the caps that apply there, a buyer those that apply to it.
func (a *Admin) listCaps(ctx *fasthttp.RequestCtx) {
	e := a.requireEngine(ctx)
	if e == nil {
		return
	}
	campaign, buyer := market.CampaignID(ctx.QueryArgs().Peek("campaign")), market.BuyerID(ctx.QueryArgs().Peek("buyer"))
	catalog := e.Catalog()
	if catalog == nil {
		a.sendError(ctx, httperror.Unavailable)
		return
	}
	lines := capListWriter{state: e.State(), now: a.operator.Now(), body: []byte(`{"caps":[`)}
	shownBuyers := map[market.BuyerID]bool{}
	for _, id := range slices.Sorted(maps.Keys(catalog.Campaigns)) {
		c := catalog.Campaigns[id]
		hasBuyer := slices.ContainsFunc(c.FilterSets, func(s market.FilterSet) bool { return s.Buyer.ID == buyer })
		if campaign != "" && campaign != id || buyer != "" && !hasBuyer {
			continue
		}
		lines.addCaps("campaign", id, "", c.Currency, c.Caps)
		for i := range c.FilterSets {
			if set := &c.FilterSets[i]; buyer == "" || set.Buyer.ID == buyer {
				shownBuyers[set.Buyer.ID] = true
				lines.addCaps("seat", id, set.Buyer.ID, c.Currency, set.Caps)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(catalog.Buyers)) {
		if (buyer == "" || id == buyer) && (campaign == "" || shownBuyers[id]) {
			lines.addCaps("buyer", "", id, market.Currency{}, catalog.Buyers[id].Caps)
		}
	}
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(lines.body, "]}\n"...))
}

func (l *capListWriter) addCaps(scope string, campaign market.CampaignID, buyer market.BuyerID, currency market.Currency, caps []*market.Cap) {
	for _, limit := range caps {
		standing := l.state.CapUsage(limit, l.now)
		body := append(append(append(appendComma(l.body, l.n), `{"of":"`...), scope...), `","campaign":`...)
		body = wire.AppendTextOrNull(body, string(campaign))
		body = wire.AppendTextOrNull(append(body, `,"buyer":`...), string(buyer))
		body = append(append(body, `,"per":"`...), limit.Period.String()...)
		body = append(append(body, `","unit":"`...), limit.Unit.String()...)
		body = appendCapAmount(append(body, `","limit":`...), limit.Unit, limit.Limit)
		body = appendCapAmount(append(body, `,"used":`...), limit.Unit, standing.Used)
		body = appendCapAmount(append(body, `,"held":`...), limit.Unit, standing.Reserved)
		if limit.Unit == market.UnitMoney {
			body = wire.AppendTextOrNull(append(body, `,"currency":`...), currency.String())
		}
		body = append(body, `,"from":`...)
		if limit.Period == calendar.Total || standing.Until == math.MaxInt64 {
			body = append(body, `null,"until":null}`...)
		} else {
			body = wire.AppendTimeString(body, standing.From)
			body = append(wire.AppendTimeString(append(body, `,"until":`...), standing.Until), '}')
		}
		l.body, l.n = body, l.n+1
	}
}

// appendCapAmount appends a number of leads or an amount of money.
func appendCapAmount(body []byte, unit market.CapUnit, n int64) []byte {
	if unit == market.UnitMoney {
		return market.Money(n).AppendJSON(body)
	}
	return strconv.AppendInt(body, n, 10)
}
