package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// looks is a lead as its supplier and a buyer see it.
func (x *exchange) looks(lead market.LeadID, buyer string) string {
	until := time.Now().Add(time.Second).UnixNano()
	said := func(l engine.LeadView, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s/%s/%s %s %s %s%s", l.Status, l.Delivery, l.Return, l.Reason, l.Buyer, l.Price, l.Currency)
	}
	catalog := x.engine.ActiveCatalog()
	return said(x.engine.ViewLeadForSupplier(lead, catalog.Suppliers["acme"].Ref, until)) + ", " +
		said(x.engine.ViewLeadForBuyer(lead, catalog.Buyers[market.BuyerID(buyer)].Ref, until))
}

// A lead is shown as it stands, to each side with its own money, from the time at
// which it is on its way.
func TestLooksOnTheWay(t *testing.T) {
	const nobody = "not found"
	tests := []struct {
		what   string
		script []reply
		after  time.Duration
		buyer  string
		want   string
	}{
		{"while it is sent", []reply{accepts.in(time.Second)}, ms, "blue", "OPEN/pending/none  blue 0, OPEN/pending/none  blue 0"},
		{"and to another", []reply{accepts.in(time.Second)}, ms, "gold", "OPEN/pending/none  blue 0, " + nobody},
		{"once it was taken", []reply{accepts.in(time.Second)}, 2 * time.Second, "blue", "ACCEPTED/delivered/none  blue 8USD, ACCEPTED/delivered/none  blue 10USD"},
		{"after the answer", []reply{hangs}, 6 * time.Second, "blue", "ACCEPTED/pending/none  blue 8USD, ACCEPTED/pending/none  blue 10USD"},
		{"when nobody knows", []reply{breaks}, time.Hour, "blue", "ACCEPTED/unknown/none  blue 8USD, ACCEPTED/unknown/none  blue 10USD"},
		{"refused after the answer", []reply{refuses.in(8 * time.Second)}, time.Hour, "blue", "UNMATCHED/failed/none post_rejected  0, UNMATCHED/failed/none post_rejected  0"},
		{"refused before it", []reply{refuses}, time.Hour, "blue", "UNMATCHED/failed/none post_rejected  0, " + nobody},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bought(returns(nil)).posting()
			r.campaigns[0].seats = r.campaigns[0].seats[:1]
			x := begin(t, r)
			x.world.script("blue", test.script...)
			sent := x.goSend(person(1))
			time.Sleep(test.after)
			expectEqual(t, x.looks(x.onlyLead(), test.buyer), test.want)
			sent.wait()
		})
	}
}

// What the log no longer holds of a lead is left out, and what cannot be read now
// is no answer.
func TestLooksPastHistory(t *testing.T) {
	for what, test := range map[string]struct {
		failure error
		want    string
	}{
		"past":   {engine.ErrGone, "ACCEPTED/none/none  blue 8USD, ACCEPTED/none/none  blue 10USD"},
		"broken": {errors.New("input/output error"), engine.ErrUnavailable.Error() + ", " + engine.ErrUnavailable.Error()},
	} {
		bubble(t, what, func(t *testing.T) {
			x := begin(t, bought(returns(nil)), historyThatFails(&test.failure))
			expectEqual(t, x.looks(x.sold(1).Lead, "blue"), test.want)
		})
	}
}
