package admin

import (
	"strconv"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
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
func (a *Admin) listPendingReturns(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	r := a.newSearchParameterParser(ctx)
	limit, after := r.readLimit(defaultReturns, maxReturns), readAfterCursor(r, market.ParseLeadID, "a lead's id, such as next of the page before")
	if len(r.faults) > 0 {
		return nil, payload.NewInvalidFieldsError(r.faults)
	}
	page, total, err := e.ListPendingReturns(after, limit)
	if err != nil {
		return nil, err
	}
	list := struct {
		Total   int             `json:"total"`
		Returns []pendingReturn `json:"returns"`
		Next    string          `json:"next,omitempty"`
	}{Total: total, Returns: payload.ConvertAll(page, newPendingReturn)}
	if len(page) == limit {
		list.Next = page[limit-1].Lead.String()
	}
	return list, nil
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
		Lead: w.Lead.String(), Status: w.Status.String(), Buyer: payload.NullIfEmpty(w.Buyer), Supplier: payload.NullIfEmpty(w.Supplier), Campaign: payload.NullIfEmpty(w.Campaign),
		Reason: payload.NullIfEmpty(w.Reason), Requested: payload.FormatTimeWithNanos(w.Requested), Credit: w.Credit, Reverse: w.Reverse, Currency: payload.NullIfEmpty(w.Currency.String()), Test: w.Test,
	}
}

// decideReturn approves or rejects the return of a lead, as the operator's request says.
func (a *Admin) decideReturn(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var word struct {
		Approve *bool  `json:"approve"`
		Note    string `json:"note"`
	}
	if err := payload.DecodeJSONBody(ctx, &word); err != nil {
		return nil, err
	}
	lead, ok := market.ParseLeadID(payload.PathParameter(ctx, "lead"))
	if !ok {
		return nil, httperror.New(404, errcode.NotFound, "There is no lead of this id.")
	}
	var faults payload.FieldErrors
	faults.AddIf(word.Approve == nil, "approve", errcode.FieldMissingRequired, "true or false")
	faults.AddIf(utf8.RuneCountInString(word.Note) > maxReturnNote, "note", errcode.FieldTooLong, "at most "+strconv.Itoa(maxReturnNote)+" characters")
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	return nil, e.AsOperator(callerNameOf(ctx)).DecideReturn(lead, *word.Approve, word.Note)
}
