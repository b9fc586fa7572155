package admin

import (
	"strconv"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// Limits of a page of returns, each of which is read from the log.
const (
	defaultReturns = 100
	maxReturns     = 500
)

// maxReturnNote is the greatest length, in characters, of the note to a decision on a return.
const maxReturnNote = 1000

// listPendingReturns lists the returns of leads that buyers requested and that wait for an
// operator's approval, oldest leads first. The parameters limit and after select a page.
func (a *Admin) listPendingReturns(ctx *fasthttp.RequestCtx) {
	e := a.requireEngine(ctx)
	if e == nil {
		return
	}
	limit, after, faults := readReturnsPage(ctx.QueryArgs())
	if len(faults) > 0 {
		a.sendError(ctx, httperror.InvalidPayload, faults...)
		return
	}
	page, total, err := e.PendingReturns(after, limit)
	if err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	answer := struct {
		Total   int             `json:"total"`
		Returns []pendingReturn `json:"returns"`
		Next    string          `json:"next,omitempty"`
	}{Total: total, Returns: convertAll(page, newPendingReturn)}
	if len(page) == limit {
		answer.Next = page[limit-1].Lead.String()
	}
	sendJSON(ctx, &answer)
}

// readReturnsPage parses the query parameters limit and after. faults has an error for each
// invalid one.
func readReturnsPage(query *fasthttp.Args) (limit int, after market.LeadID, faults []market.FieldError) {
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

// pendingReturn is a return that waits for an operator's approval, in JSON.
type pendingReturn struct {
	Lead      string       `json:"lead_id"`
	Status    string       `json:"status"`
	Buyer     *string      `json:"buyer_id"`
	Supplier  *string      `json:"supplier_id"`
	Campaign  *string      `json:"campaign_id"`
	Reason    *string      `json:"reason"`
	Requested string       `json:"asked_at"`
	Credit    market.Money `json:"credit"`
	Reverse   market.Money `json:"reverse"`
	Currency  *string      `json:"currency"`
	Test      bool         `json:"test,omitempty"`
}

func newPendingReturn(w *engine.PendingReturn) pendingReturn {
	return pendingReturn{
		Lead: w.Lead.String(), Status: w.Status.String(), Buyer: nullIfEmpty(w.Buyer), Supplier: nullIfEmpty(w.Supplier), Campaign: nullIfEmpty(w.Campaign),
		Reason: nullIfEmpty(w.Reason), Requested: formatExactTime(w.Requested), Credit: w.Credit, Reverse: w.Reverse, Currency: nullIfEmpty(w.Currency.String()), Test: w.Test,
	}
}

// decideReturn approves or rejects the return of a lead, as the operator's request says.
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
	if err := e.By(callerNameOf(ctx)).DecideReturn(lead, *word.Approve, word.Note); err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}
