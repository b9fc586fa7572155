package admin

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// capUsage is a cap (a limit on leads or money per period) with the part of it that is used up,
// in JSON.
type capUsage struct {
	Scope    string          `json:"of"`
	Campaign *string         `json:"campaign"`
	Terms    *string         `json:"terms,omitempty"` // id of the entry of the campaign's terms; absent for other caps
	Buyer    *string         `json:"buyer"`
	Set      string          `json:"filter_set,omitempty"`
	Period   string          `json:"per"`
	Unit     string          `json:"unit"`
	Limit    any             `json:"limit"`
	Used     any             `json:"used"`
	Reserved any             `json:"held"`
	Currency json.RawMessage `json:"currency,omitempty"` // absent for caps on leads
	From     *string         `json:"from"`               // of the current period; null: the cap has no periods
	Until    *string         `json:"until"`
}

// capUsageCollector collects caps for the answer to GET caps, with their usage at the time now.
type capUsageCollector struct {
	state *state.State
	now   int64
	caps  []capUsage
}

// listCapUsage answers GET caps with the usage of all caps in the active configuration, and with the
// limits in force now. The parameter campaign restricts it to caps that apply in that campaign, and
// buyer to those that apply to that buyer.
func (a *Admin) listCapUsage(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	campaign, buyer := market.CampaignID(ctx.QueryArgs().Peek("campaign")), market.BuyerID(ctx.QueryArgs().Peek("buyer"))
	catalog := e.ActiveCatalogOrNil()
	if catalog == nil {
		return nil, httperror.Unavailable
	}
	list := capUsageCollector{state: e.State(), now: a.exchange.Now(), caps: []capUsage{}}
	shownBuyers := map[market.BuyerID]bool{}
	for _, id := range slices.Sorted(maps.Keys(catalog.Campaigns)) {
		c := catalog.Campaigns[id]
		hasBuyer := slices.ContainsFunc(c.FilterSets, func(s market.FilterSet) bool { return s.Buyer.ID == buyer })
		if campaign != "" && campaign != id || buyer != "" && !hasBuyer {
			continue
		}
		list.addCaps("campaign", id, "", "", c.Currency, c.Caps)
		for i := range c.Terms {
			added := len(list.caps)
			list.addCaps("terms", id, "", "", c.Currency, c.Terms[i].Caps)
			for ; added < len(list.caps); added++ {
				list.caps[added].Terms = &c.Terms[i].ID
			}
		}
		for i := range c.FilterSets {
			if set := &c.FilterSets[i]; buyer == "" || set.Buyer.ID == buyer {
				shownBuyers[set.Buyer.ID] = true
				list.addCaps("seat", id, set.Buyer.ID, set.ID, c.Currency, set.CapsAt(list.now))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(catalog.Buyers)) {
		if (buyer == "" || id == buyer) && (campaign == "" || shownBuyers[id]) {
			list.addCaps("buyer", "", id, "", catalog.CurrencyOfBuyerOrZero(id), catalog.Buyers[id].Caps)
		}
	}
	return map[string]any{"caps": list.caps}, nil
}

func (l *capUsageCollector) addCaps(scope string, campaign market.CampaignID, buyer market.BuyerID, filterSet string, currency market.Currency, caps []*market.Cap) {
	for _, limit := range caps {
		standing := l.state.CapUsage(limit, l.now)
		usage := capUsage{
			Scope: scope, Campaign: payload.NullIfEmpty(string(campaign)), Buyer: payload.NullIfEmpty(string(buyer)), Set: filterSet, Period: limit.Period.String(), Unit: limit.Unit.String(),
			Limit: capValueForJSON(limit.Unit, limit.Limit), Used: capValueForJSON(limit.Unit, standing.Used), Reserved: capValueForJSON(limit.Unit, standing.Reserved),
		}
		if limit.Unit == market.UnitMoney {
			usage.Currency = payload.EncodeJSON(payload.NullIfEmpty(currency.String()))
		}
		if limit.Period != calendar.Total && standing.Until != math.MaxInt64 {
			usage.From, usage.Until = payload.NullIfEmpty(payload.FormatTimeWithNanos(standing.From)), payload.NullIfEmpty(payload.FormatTimeWithNanos(standing.Until))
		}
		l.caps = append(l.caps, usage)
	}
}

// capValueForJSON returns the value of a cap for JSON: as market.Money, a decimal number, if the cap
// limits money, and as an integer otherwise.
func capValueForJSON(unit market.CapUnit, value int64) any {
	if unit == market.UnitMoney {
		return market.Money(value)
	}
	return value
}

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
