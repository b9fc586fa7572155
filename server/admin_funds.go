package server

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// maxFundsNote is how many bytes the note of a top-up may have.
const maxFundsNote = 256

// funds is a buyer's money: its balance, and what of it open posts hold.
func (a *Admin) funds(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id := parameter(ctx, "id")
	ref := e.State().RefOf(event.NameBuyer, id)
	if ref == 0 {
		a.fail(ctx, fault{404, errcode.NotFound, "No buyer of this id was ever configured."})
		return
	}
	balance, held := e.State().Balance(ref)
	body := balance.AppendJSON([]byte(`{"balance":`))
	body = held.AppendJSON(append(body, `,"held":`...))
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

// topUp adds to a buyer's money.
func (a *Admin) topUp(ctx *fasthttp.RequestCtx) {
	var body struct {
		Amount json.RawMessage `json:"amount"`
		Note   string          `json:"note"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	var faults []market.FieldError
	amount, ok := movement(body.Amount)
	switch {
	case len(body.Amount) == 0:
		faults = append(faults, market.FieldError{Field: "amount", Code: errcode.FieldMissingRequired, Expected: expectedMovement})
	case !ok:
		faults = append(faults, market.FieldError{Field: "amount", Code: errcode.FieldOutOfRange, Expected: expectedMovement})
	}
	switch {
	case len(body.Note) > maxFundsNote:
		faults = append(faults, market.FieldError{Field: "note", Code: errcode.FieldTooLong, Expected: "at most " + strconv.Itoa(maxFundsNote) + " bytes"})
	case strings.ContainsFunc(body.Note, func(c rune) bool { return !unicode.IsPrint(c) }):
		// It stands in a line of a statement, on a terminal as in a file.
		faults = append(faults, market.FieldError{Field: "note", Code: errcode.FieldInvalidFormat, Expected: "a line of printable characters"})
	}
	if len(faults) > 0 {
		a.fail(ctx, faultPayload, faults...)
		return
	}
	id := parameter(ctx, "id")
	if err := e.By(actorOf(ctx)).TopUp(market.BuyerID(id), amount, body.Note); err != nil {
		a.failWith(ctx, err)
		return
	}
	a.funds(ctx)
}

const expectedMovement = "a number other than zero, from -1000000 to 1000000, with at most six decimals"

// movement reads what an operator pays into an account, or, below zero, takes back
// from it: so a mistake can be put right.
func movement(text []byte) (market.Money, bool) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	amount, err := market.ParseMoney(digits)
	if err != nil || amount == 0 {
		return 0, false
	}
	if negative {
		amount = -amount
	}
	return amount, true
}
