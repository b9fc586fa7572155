package server

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/report"
)

// foundBytes is room for most of what is found.
const foundBytes = 400

// comma appends what stands between the elements of a list.
func comma(body []byte, i int) []byte {
	if i > 0 {
		return append(body, ',')
	}
	return body
}

// answerFound ends a list with how far the search has looked, and where it goes on.
func answerFound(ctx *fasthttp.RequestCtx, body []byte, page *report.Page, next func([]byte) []byte) {
	body = append(body, `],"next":`...)
	if page.Next == ([16]byte{}) {
		body = append(body, "null"...)
	} else {
		body = append(next(append(body, '"')), '"')
	}
	body = strconv.AppendBool(append(body, `,"complete":`...), page.Complete)
	body = append(body, `,"searched_from":`...)
	if page.Searched <= 0 {
		body = append(body, "null"...)
	} else {
		body = appendInstant(body, page.Searched)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

func appendFoundLead(body []byte, l *report.FoundLead) []byte {
	body = l.ID.AppendTo(append(body, `{"id":"`...))
	body = appendInstant(append(body, `","at":`...), l.At)
	body = appendText(append(body, `,"campaign":`...), l.Campaign)
	body = appendText(append(body, `,"supplier":`...), l.Supplier)
	body = appendText(append(body, `,"buyer":`...), l.Buyer)
	body = append(append(body, `,"status":"`...), l.Status.String()...)
	body = append(append(body, `","delivery":"`...), l.Delivery.String()...)
	body = appendText(append(body, `","reason":`...), l.Reason.String())
	body = appendPaid(append(body, `,"price":`...), l.Price, l.Currency)
	body = appendPaid(append(body, `,"payout":`...), l.Payout, l.Currency)
	body = appendText(append(body, `,"currency":`...), l.Currency)
	body = append(body, `,"auction":`...)
	if l.Auction.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(l.Auction.AppendTo(append(body, '"')), '"')
	}
	body = appendText(append(body, `,"source":`...), l.Source)
	body = appendText(append(body, `,"state":`...), l.State)
	body = strconv.AppendBool(append(body, `,"test":`...), l.Test)
	body = strconv.AppendInt(append(body, `,"posts":`...), int64(l.Posts), 10)
	if l.Erased {
		body = append(body, `,"erased":true`...)
	}
	return append(body, '}')
}

// appendPaid writes an amount, or null where there is no currency that it is in.
func appendPaid(body []byte, amount market.Money, currency string) []byte {
	if currency == "" {
		return append(body, "null"...)
	}
	return amount.AppendJSON(body)
}

func appendFoundAuction(body []byte, a *report.FoundAuction) []byte {
	body = a.ID.AppendTo(append(body, `{"id":"`...))
	body = appendInstant(append(body, `","at":`...), a.At)
	body = append(body, `,"lead":`...)
	if a.Lead.IsZero() {
		body = append(body, "null"...)
	} else {
		body = append(a.Lead.AppendTo(append(body, '"')), '"')
	}
	body = appendText(append(body, `,"campaign":`...), a.Campaign)
	body = appendText(append(body, `,"supplier":`...), a.Supplier)
	body = strconv.AppendInt(append(body, `,"asked":`...), int64(a.Asked), 10)
	body = appendText(append(body, `,"reason":`...), a.Reason.String())
	body = appendText(append(body, `,"winner":`...), a.Winner)
	body = appendPaid(append(body, `,"amount":`...), a.Amount, a.Currency)
	body = appendText(append(body, `,"currency":`...), a.Currency)
	return append(strconv.AppendBool(append(body, `,"test":`...), a.Test), '}')
}
