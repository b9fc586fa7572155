package admin

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// maxFundsNote is the greatest length in bytes of the note that an operator adds to a top-up.
const maxFundsNote = 256

// getBuyerBalance answers with a buyer's balance, the part of it that open posts have reserved, and the
// currency. If the buyer has no account, the answer has no balance.
func (a *Admin) getBuyerBalance(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	ref := e.State().RefOf(event.ObjectBuyer, id)
	if ref == 0 {
		return nil, httperror.New(404, errcode.NotFound, "No buyer of this id was ever configured.")
	}
	balance, held := e.State().BuyerBalance(ref)
	funds := struct {
		Balance  *market.Money `json:"balance,omitempty"`
		Reserved market.Money  `json:"held"`
		Currency string        `json:"currency,omitempty"`
	}{Reserved: held}
	if catalog := e.ActiveCatalogOrNil(); catalog != nil {
		funds.Currency = catalog.CurrencyOfBuyerOrZero(market.BuyerID(id)).String()
	}
	if e.State().AppliedBuyerFunds(ref).Opened {
		funds.Balance = &balance
	}
	return &funds, nil
}

// topUpOrCorrectBuyerBalance adds an amount to a buyer's balance. A negative amount corrects a mistake.
func (a *Admin) topUpOrCorrectBuyerBalance(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var body struct {
		Amount json.RawMessage `json:"amount"`
		Note   string          `json:"note"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	var faults payload.FieldErrors
	amount, ok := parseSignedNonzeroAmount(body.Amount)
	faults.AddIf(len(body.Amount) == 0, "amount", errcode.FieldMissingRequired, expectedMovement)
	faults.AddIf(len(body.Amount) > 0 && !ok, "amount", errcode.FieldOutOfRange, expectedMovement)
	long := len(body.Note) > maxFundsNote
	faults.AddIf(long, "note", errcode.FieldTooLong, "at most "+strconv.Itoa(maxFundsNote)+" bytes")
	// Statements contain the note as one line, on a terminal or in a file.
	unprintable := strings.ContainsFunc(body.Note, func(c rune) bool { return !unicode.IsPrint(c) })
	faults.AddIf(!long && unprintable, "note", errcode.FieldInvalidFormat, "a line of printable characters")
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	id := payload.PathParameter(ctx, "id")
	if err := e.AsOperator(callerNameOf(ctx)).AdjustBuyerFunds(market.BuyerID(id), amount, body.Note); err != nil {
		return nil, err
	}
	return a.getBuyerBalance(ctx, e)
}

const expectedMovement = "a number other than zero, from -1000000 to 1000000, with at most six decimals"

// parseSignedNonzeroAmount parses the amount of a top-up: a decimal number other than zero, which may
// be negative.
func parseSignedNonzeroAmount(text []byte) (amount market.Money, ok bool) {
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
