package server

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
)

// A page of a listing of returns: each is read back from the log.
const (
	usualReturns = 100
	mostReturns  = 500
)

// mostNote is how many characters an operator's note may have.
const mostNote = 1000

// returns lists the returns that wait for the operator's word, the oldest leads
// first; ?limit= so many, ?after= a lead of an earlier page.
func (a *Admin) returns(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	limit, after, faults := pageOf(ctx.QueryArgs())
	if len(faults) > 0 {
		a.fail(ctx, faultPayload, faults...)
		return
	}
	page, total, err := e.WaitingReturns(after, limit)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	body := strconv.AppendInt([]byte(`{"total":`), int64(total), 10)
	body = append(body, `,"returns":[`...)
	for i := range page {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendWaiting(body, &page[i])
	}
	body = append(body, ']')
	if len(page) == limit {
		body = append(page[limit-1].Lead.AppendTo(append(body, `,"next":"`...)), '"')
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

// pageOf reads which part of a listing is asked for.
func pageOf(query *fasthttp.Args) (limit int, after market.LeadID, faults []market.FieldError) {
	limit = usualReturns
	if text := query.Peek("limit"); len(text) > 0 {
		n, err := strconv.Atoi(string(text))
		if limit = n; err != nil || n < 1 || n > mostReturns {
			faults = append(faults, market.FieldError{Field: "limit", Code: errcode.FieldOutOfRange, Expected: "1 to " + strconv.Itoa(mostReturns)})
		}
	}
	if text := query.Peek("after"); len(text) > 0 {
		var ok bool
		if after, ok = market.ParseLeadID(string(text)); !ok {
			faults = append(faults, market.FieldError{Field: "after", Code: errcode.FieldInvalidFormat, Expected: "a lead's id, such as next of the page before"})
		}
	}
	return limit, after, faults
}

func appendWaiting(body []byte, w *engine.WaitingReturn) []byte {
	body = w.Lead.AppendTo(append(body, `{"lead_id":"`...))
	body = append(append(body, `","status":"`...), w.Status.String()...)
	body = appendText(append(body, `","buyer_id":`...), w.Buyer)
	body = appendText(append(body, `,"supplier_id":`...), w.Supplier)
	body = appendText(append(body, `,"campaign_id":`...), w.Campaign)
	body = appendText(append(body, `,"reason":`...), w.Reason)
	body = time.Unix(0, w.Asked).UTC().AppendFormat(append(body, `,"asked_at":"`...), time.RFC3339Nano)
	body = w.Credit.AppendJSON(append(body, `","credit":`...))
	body = w.Reverse.AppendJSON(append(body, `,"reverse":`...))
	body = appendText(append(body, `,"currency":`...), w.Currency.String())
	if w.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}

// decideReturn takes an operator's word on a return that waits.
func (a *Admin) decideReturn(ctx *fasthttp.RequestCtx) {
	var word struct {
		Approve *bool  `json:"approve"`
		Note    string `json:"note"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &word) {
		return
	}
	lead, ok := market.ParseLeadID(parameter(ctx, "lead"))
	if !ok {
		a.fail(ctx, fault{404, errcode.NotFound, "There is no lead of this id."})
		return
	}
	var faults []market.FieldError
	if word.Approve == nil {
		faults = append(faults, market.FieldError{Field: "approve", Code: errcode.FieldMissingRequired, Expected: "true or false"})
	}
	if utf8.RuneCountInString(word.Note) > mostNote {
		faults = append(faults, market.FieldError{Field: "note", Code: errcode.FieldTooLong, Expected: "at most " + strconv.Itoa(mostNote) + " characters"})
	}
	if len(faults) > 0 {
		a.fail(ctx, faultPayload, faults...)
		return
	}
	if err := e.By(actorOf(ctx)).DecideReturn(lead, *word.Approve, word.Note); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}
