package server

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/report"
)

// unmatched tells why leads were not sold: GET unmatched. Without a time it is the last
// day; it is of all hours that the time touches.
func (a *Admin) unmatched(ctx *fasthttp.RequestCtx, from *report.Report) {
	r := searchReader{query: ctx.QueryArgs()}
	s := r.span()
	if len(r.faults) > 0 {
		a.fail(ctx, faultPayload, r.faults...)
		return
	}
	if s.To == 0 {
		s.To = time.Now().UnixNano()
	}
	if s.From == 0 {
		s.From = s.To - int64(24*time.Hour)
	}
	why, err := from.Unmatched(context.Background(), s)
	if err != nil {
		a.failReport(ctx, err)
		return
	}
	body := strconv.AppendInt([]byte(`{"leads":`), why.Leads, 10)
	body = strconv.AppendInt(append(body, `,"unsold":`...), why.Unsold, 10)
	body = appendTallies(body, "reasons", "reason", "leads", why.Reasons)
	body = appendTallies(body, "outcomes", "outcome", "bids", why.Outcomes)
	body = appendTallies(body, "campaigns", "campaign", "leads", why.Campaigns)
	body = appendTallies(body, "buyers", "outcome", "bids", why.Buyers)
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

func appendTallies(body []byte, list, of, count string, tallies []report.Tally) []byte {
	body = append(append(append(body, `,"`...), list...), `":[`...)
	for i, t := range tallies {
		body = append(comma(body, i), '{')
		if t.Buyer != "" {
			body = append(market.AppendJSONString(append(body, `"buyer":`...), []byte(t.Buyer)), ',')
		}
		body = market.AppendJSONString(append(append(append(body, '"'), of...), `":`...), []byte(t.Name))
		body = append(append(append(body, `,"`...), count...), `":`...)
		body = append(strconv.AppendInt(body, t.N, 10), '}')
	}
	return append(body, ']')
}
