package admin

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/wire"
)

// Limits of a page of returns, each of which is read from the log.
const (
	defaultReturns = 100
	maxReturns     = 500
)

// maxReturnNote is the longest note of a decision, in characters.
const maxReturnNote = 1000

// listReturns lists the pending returns, oldest leads first; ?limit= and ?after= select a
// page.
func (a *Admin) listReturns(ctx *fasthttp.RequestCtx) {
	e := a.requireEngine(ctx)
	if e == nil {
		return
	}
	limit, after, faults := readPage(ctx.QueryArgs())
	if len(faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, faults...)
		return
	}
	page, total, err := e.PendingReturns(after, limit)
	if err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	body := strconv.AppendInt([]byte(`{"total":`), int64(total), 10)
	body = append(body, `,"returns":[`...)
	for i := range page {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendPendingReturn(body, &page[i])
	}
	body = append(body, ']')
	if len(page) == limit {
		body = append(page[limit-1].Lead.AppendTo(append(body, `,"next":"`...)), '"')
	}
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

// readPage parses limit and after.
func readPage(query *fasthttp.Args) (limit int, after market.LeadID, faults []market.FieldError) {
	limit = defaultReturns
	if text := query.Peek("limit"); len(text) > 0 {
		n, err := strconv.Atoi(string(text))
		if limit = n; err != nil || n < 1 || n > maxReturns {
			faults = append(faults, market.FieldError{Field: "limit", Code: errcode.FieldOutOfRange, Expected: "1 to " + strconv.Itoa(maxReturns)})
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

func appendPendingReturn(body []byte, w *engine.PendingReturn) []byte {
	body = w.Lead.AppendTo(append(body, `{"lead_id":"`...))
	body = append(append(body, `","status":"`...), w.Status.String()...)
	body = wire.AppendTextOrNull(append(body, `","buyer_id":`...), w.Buyer)
	body = wire.AppendTextOrNull(append(body, `,"supplier_id":`...), w.Supplier)
	body = wire.AppendTextOrNull(append(body, `,"campaign_id":`...), w.Campaign)
	body = wire.AppendTextOrNull(append(body, `,"reason":`...), w.Reason)
	body = time.Unix(0, w.Requested).UTC().AppendFormat(append(body, `,"asked_at":"`...), time.RFC3339Nano)
	body = w.Credit.AppendJSON(append(body, `","credit":`...))
	body = w.Reverse.AppendJSON(append(body, `,"reverse":`...))
	body = wire.AppendTextOrNull(append(body, `,"currency":`...), w.Currency.String())
	if w.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}

// decideReturn approves or rejects a pending return.
func (a *Admin) decideReturn(ctx *fasthttp.RequestCtx) {
	var word struct {
		Approve *bool  `json:"approve"`
		Note    string `json:"note"`
	}
	e := a.requireEngine(ctx)
	if e == nil || !a.readJSON(ctx, &word) {
		return
	}
	lead, ok := market.ParseLeadID(pathParameter(ctx, "lead"))
	if !ok {
		a.sendError(ctx, httperror.New(404, errcode.NotFound, "There is no lead of this id."))
		return
	}
	var faults []market.FieldError
	if word.Approve == nil {
		faults = append(faults, market.FieldError{Field: "approve", Code: errcode.FieldMissingRequired, Expected: "true or false"})
	}
	if utf8.RuneCountInString(word.Note) > maxReturnNote {
		faults = append(faults, market.FieldError{Field: "note", Code: errcode.FieldTooLong, Expected: "at most " + strconv.Itoa(maxReturnNote) + " characters"})
	}
	if len(faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, faults...)
		return
	}
	if err := e.By(actorOf(ctx)).DecideReturn(lead, *word.Approve, word.Note); err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}
