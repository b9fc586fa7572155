package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
)

// statement adds up what the log has of a party's money, and lists it.
func (x *exchange) statement(party ledger.Party, from, to time.Time) (*ledger.Statement, []ledger.Entry) {
	x.t.Helper()
	live := x.state.BuyerFunds(0)
	if party.IsBuyer() {
		live = x.state.BuyerFunds(party.Ref)
	}
	tally := ledger.NewStatementTally(party, ledger.Period{From: from.UnixNano(), To: to.UnixNano()}, live)
	decoder := event.Decoder{ForReplay: true}
	each := func(f func(seq uint64, at int64, fact event.Event)) {
		for i, e := range x.log.durable() {
			f(uint64(i+1), e.at, must[event.Event](x.t)(decoder.Decode(e.data)))
		}
	}
	each(tally.AddEvent)
	s := tally.BuildStatement()
	lines := s.IterateEntries()
	var entries []ledger.Entry
	each(func(seq uint64, at int64, fact event.Event) {
		entries = append(entries, lines.NextEntries(seq, at, fact)...)
	})
	return s, entries
}

// merchants are a market of every kind of sale: blue is posted to and has little
// money, gold's leads are recorded, red's money is not limited. In one campaign a
// return takes the supplier's payout back, in the other an operator decides it.
var merchants = rig{
	suppliers: []string{"other"},
	buyers: []buyer{
		{id: "blue", posts: true, funds: "120", credit: "15.5"},
		{id: "gold", funds: "200"},
		{id: "red", posts: true},
	},
	campaigns: []campaign{
		{
			id: "auto", method: market.Waterfall, payout: "0.8", returns: new(returns(nil)),
			seats: []seat{{buyer: "blue", price: "10.25"}, {buyer: "gold", price: "8.000001"}},
		},
		{
			id: "home", method: market.Waterfall, payout: "$4.2",
			returns: new(returns(func(r *market.ReturnRule) { r.Manual, r.ReversePayout = true, false })),
			seats:   []seat{{buyer: "blue", price: "9"}, {buyer: "red", price: "6"}},
		},
	},
}

// trading is a month of merchants.
type trading struct {
	*exchange
	t      *testing.T
	random *rand.Rand
	sales  []engine.Answer
	seen   map[string]int
}

// day is a dozen leads, and what buyers and the operator say of earlier ones.
func (m *trading) day() {
	replies := []reply{accepts, accepts, accepts, refuses, breaks, unreached, accepts.in(7 * time.Second), refuses.in(7 * time.Second), swallows}
	for range 12 {
		time.Sleep(time.Duration(1 + m.random.IntN(int(115*time.Minute))))
		for _, name := range []string{"blue", "red"} {
			m.world.script(name, replies[m.random.IntN(len(replies))])
		}
		supplier := []string{"acme", "other"}[m.random.IntN(2)]
		a, err := m.send(person(len(m.sales), "flo_campaign_id", []string{"auto", "home"}[m.random.IntN(2)], "flo_supplier_id", supplier).by(supplier))
		if err != nil {
			m.t.Fatal(err)
		}
		m.sales = append(m.sales, a)
		m.seen[said(a, nil)]++
		m.operate()
		m.comeBack()
	}
}

// operate says what became of deliveries that nobody knew the end of, and pays in
// where there is little left.
func (m *trading) operate() {
	for _, a := range m.sales {
		if post := m.state.OpenPost(a.Lead); post != nil && post.Exhausted && m.random.IntN(3) > 0 {
			how := []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}[m.random.IntN(3)]
			if m.engine.By("").Resolve(a.Lead, how) == nil {
				m.seen[how.String()]++
			}
		}
	}
	for _, name := range []string{"blue", "gold"} {
		if balance, _ := m.state.BuyerBalance(m.ref(name)); balance < 10_000_000 && m.random.IntN(8) == 0 {
			if err := m.engine.By("").TopUp(market.BuyerID(name), market.Money(1+m.random.IntN(90_000_000)), "wire"); err != nil {
				m.t.Fatal(err)
			}
			m.seen["top-up"]++
		}
	}
}

// comeBack has one of the last leads returned, and decides one that waits for it.
func (m *trading) comeBack() {
	a := m.sales[max(0, len(m.sales)-1-m.random.IntN(60))]
	if lead := m.lead(a); lead.Buyer != 0 && m.random.IntN(2) == 0 {
		status := []string{"contacted", "qualified", "returned", "returned"}[m.random.IntN(4)]
		m.seen[m.reported(saying(a, status).by(m.state.NameOf(event.ObjectBuyer, lead.Buyer)))]++
	}
	for _, id := range m.state.PendingReturnLeads() {
		if m.random.IntN(4) == 0 {
			approve := m.random.IntN(2) == 0
			if err := m.engine.By("").DecideReturn(id, approve, ""); err != nil {
				m.t.Fatal(err)
			}
			m.seen[fmt.Sprint("approved ", approve)]++
		}
	}
}

func (m *trading) ref(buyer string) market.Ref {
	return m.engine.Catalog().Buyers[market.BuyerID(buyer)].Ref
}

// TestAMonthOfMoney: of a month with sales, refusals, deliveries that an operator
// decided, returns and top-ups, through a crash, the statements of the days add up
// to the month's, the month's end is the live balance, and all of it is what the
// leads themselves say that they cost.
func TestAMonthOfMoney(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &trading{begin(t, merchants), t, rand.New(rand.NewPCG(4, 2)), nil, map[string]int{}}
		for day := range 30 {
			m.day()
			if day == 17 {
				m.crash()
			}
		}
		at(t, "2000-02-01 00:00:00")
		for _, name := range []string{"blue", "gold", "red"} {
			m.addsUp(ledger.Party{Kind: event.ObjectBuyer, Ref: m.ref(name)}, name != "red")
		}
		for _, name := range []string{"acme", "other"} {
			m.addsUp(ledger.Party{Kind: event.ObjectSupplier, Ref: m.state.RefOf(event.ObjectSupplier, name)}, false)
		}
		for _, way := range []string{
			"blue", "gold", "red", "insufficient_funds", "post_rejected", "top-up", "confirmed", "released", "resent",
			"contacted", "qualified", "returned", "ACCEPTED waiting", "approved true", "approved false",
		} {
			if m.seen[way] == 0 {
				t.Errorf("it never came to %q: %v", way, m.seen)
			}
		}
	})
}

func (m *trading) addsUp(party ledger.Party, account bool) {
	m.t.Helper()
	end := began.AddDate(0, 1, 0)
	month, entries := m.statement(party, began, end)
	live := m.state.BuyerFunds(party.Ref)
	if month.Account != account || account && month.Closing != (ledger.BalanceAndHeld{Balance: live.Balance, Held: live.Held}) {
		m.t.Errorf("%+v ends with %+v, and has %+v", party, month.Closing, live)
	}
	sums := map[ledger.Total]ledger.Total{}
	last, listed := month.Opening, 0
	for day := range 31 {
		s, some := m.statement(party, began.AddDate(0, 0, day), began.AddDate(0, 0, day+1))
		if s.Opening != last {
			m.t.Errorf("%+v: day %d begins with %+v, and the one before ended with %+v", party, day+1, s.Opening, last)
		}
		last = s.Closing
		for _, e := range some {
			if e != entries[listed] {
				m.t.Fatalf("%+v: entry %d of the month is %+v, on its day %+v", party, listed, entries[listed], e)
			}
			listed++
		}
		for _, total := range s.Totals {
			key := ledger.Total{Kind: total.Kind, Campaign: total.Campaign, Currency: total.Currency, InAccount: total.InAccount}
			sum := sums[key]
			sum.Count += total.Count
			sum.Amount += total.Amount
			sums[key] = sum
		}
	}
	if last != month.Closing || listed != month.Entries {
		m.t.Errorf("%+v: the days end with %+v after %d entries, the month with %+v after %d", party, last, listed, month.Closing, month.Entries)
	}
	all := market.Money(0)
	for _, total := range month.Totals {
		key := ledger.Total{Kind: total.Kind, Campaign: total.Campaign, Currency: total.Currency, InAccount: total.InAccount}
		if sums[key].Count != total.Count || sums[key].Amount != total.Amount {
			m.t.Errorf("%+v: %+v in the month, %+v by its days", party, total, sums[key])
		}
		if total.Kind != ledger.EntryOpening && total.Kind != ledger.EntryTopUp {
			all += total.Amount
		}
	}
	if want := m.worth(party); all != want {
		m.t.Errorf("%+v: its leads came to %s, by themselves to %s", party, all, want)
	}
}

// worth is what a party's leads cost or earned, by where each stands at the end.
func (m *trading) worth(party ledger.Party) (sum market.Money) {
	for _, a := range m.sales {
		lead := m.lead(a)
		reversed := m.state.NameOf(event.ObjectCampaign, lead.Campaign) == "auto"
		switch back := lead.Status == market.StatusReturned; {
		case lead.Status == market.StatusUnmatched || lead.Status == market.StatusOpen:
		case lead.Delivery == market.DeliveryPending || lead.Delivery == market.DeliveryUnknown:
		case party.IsBuyer() && party.Ref == lead.Buyer && !back:
			sum -= lead.Price
		case !party.IsBuyer() && party.Ref == lead.Supplier && !(back && reversed):
			sum += lead.Payout
		}
	}
	return sum
}

// TestNoFunds: a buyer sells down to minus its credit limit and not a millionth
// further, holds of open posts included; it is back once money comes in, or back.
func TestNoFunds(t *testing.T) {
	bubble(t, "recorded", func(t *testing.T) {
		x := begin(t, rig{
			buyers:    []buyer{{id: "blue", funds: "20", credit: "9.999999"}},
			campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}}}},
		})
		first := x.sold(1)
		got := []string{x.tell(person(2)), x.tell(person(3)), x.balance("blue")}
		for _, amount := range []market.Money{1, 1} {
			if err := x.engine.By("").TopUp("blue", amount, ""); err != nil {
				t.Fatal(err)
			}
			got = append(got, x.tell(person(4)), x.balance("blue"))
		}
		got = append(got, x.reported(saying(first, "returned")), x.balance("blue"), x.tell(person(5)), x.balance("blue"))
		if want := "blue insufficient_funds 0 blue -9.999999 insufficient_funds -9.999998 returned 0.000002 blue -9.999998"; strings.Join(got, " ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
		}
	})
	bubble(t, "held", func(t *testing.T) {
		x := begin(t, rig{
			buyers:    []buyer{{id: "blue", posts: true, funds: "20"}},
			campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}}}},
		})
		x.world.script("blue", breaks)
		first := x.sold(1)
		got := []string{x.balance("blue"), x.tell(person(2)), x.tell(person(3)), x.balance("blue")}
		time.Sleep(time.Hour)
		if err := x.engine.By("").Resolve(first.Lead, event.SettledReleased); err != nil {
			t.Fatal(err)
		}
		x.world.script("blue", accepts)
		got = append(got, x.balance("blue"), x.tell(person(4)), x.tell(person(5)), x.balance("blue"))
		want := "20 of which is held 10 blue insufficient_funds 20 of which is held 20 20 of which is held 10 blue insufficient_funds 10 of which is held 10"
		if strings.Join(got, " ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
		}
	})
}
