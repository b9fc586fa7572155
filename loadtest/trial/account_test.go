package trial

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

func leadsOf(ids string) map[string]bool {
	set := map[string]bool{}
	for _, id := range strings.Fields(ids) {
		set[id] = true
	}
	return set
}

// boughtBy returns the state of a buyer that has these leads, at a dollar each.
func boughtBy(ids string, change func(*refbuyer.Stats)) buyerState {
	b := buyerState{leads: leadsOf(ids)}
	b.Accepted = int64(len(b.leads))
	b.Revenue = market.Money(len(b.leads)) * 1_000_000
	if change != nil {
		change(&b.Stats)
	}
	return b
}

func TestABuyersAccount(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after buyerState
		sold          string
		money         market.Money
		foreign       bool // the payout may differ from the price
		want          BuyerAccount
		wrong         string
	}{
		{
			"leads of another day", boughtBy("x y z", func(s *refbuyer.Stats) { s.Pings, s.Bids, s.DoubleSold = 9, 8, 2 }),
			boughtBy("x y z a", func(s *refbuyer.Stats) { s.Pings, s.Bids, s.DoubleSold = 12, 10, 2 }), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 1, Money: 1_000_000, Owes: 1_000_000, Pings: 3, Bids: 2},
			"",
		},
		{
			"unconfirmed lead", boughtBy("", nil), boughtBy("a b", nil), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 2, Unreported: 1, Money: 1_000_000, Owes: 2_000_000},
			"",
		},
		{
			"too little money, with an unconfirmed lead", boughtBy("", nil), boughtBy("a b", nil), "a", 3_000_000, false,
			BuyerAccount{Sold: 1, Taken: 2, Unreported: 1, Money: 3_000_000, Owes: 2_000_000},
			"less than the 3 of the answers",
		},
		{
			"another's payout", boughtBy("", nil), boughtBy("a", nil), "a", 800_000, true,
			BuyerAccount{Sold: 1, Taken: 1, Money: 800_000, Owes: 1_000_000},
			"",
		},
	} {
		a := new(Account)
		a.compareBuyer("buy", test.before, test.after, leadsOf(test.sold), test.money, map[string]string{}, !test.foreign)
		test.want.ID = "buy"
		if len(a.Buyers) != 1 || a.Buyers[0] != test.want {
			t.Errorf("%s: %+v", test.name, a.Buyers)
		}
		if wrong := strings.Join(a.Mismatches, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: mismatches %q", test.name, wrong)
		}
	}
}

// TestForgottenPosts: leads that a buyer forgot are not reported as missing.
func TestForgottenPosts(t *testing.T) {
	a := new(Account)
	a.compareBuyer("buy", boughtBy("", nil), boughtBy("b", func(s *refbuyer.Stats) {
		s.Forgotten, s.Accepted, s.Revenue = 1, 2, 2_000_000
	}), leadsOf("a b"), 2_000_000, map[string]string{}, true)
	if len(a.Mismatches) > 0 || len(a.Unchecked) != 1 || !strings.Contains(a.Unchecked[0], "forgotten 1 posts") {
		t.Errorf("%v %v", a.Mismatches, a.Unchecked)
	}
}

// TestOneLeadOfTwoBuyers: the mismatch names both buyers.
func TestOneLeadOfTwoBuyers(t *testing.T) {
	a, owners := new(Account), map[string]string{}
	a.compareBuyer("blue", buyerState{}, boughtBy("a b", nil), leadsOf("a b"), 2_000_000, owners, true)
	a.compareBuyer("red", buyerState{}, boughtBy("b", nil), nil, 0, owners, true)
	if got := strings.Join(a.Mismatches, "; "); got != "lead b was sold to blue and to red" {
		t.Error(got)
	}
}

// TestUnconfirmedLeads: buyers may have as many unconfirmed leads as there are unanswered
// requests.
func TestUnconfirmedLeads(t *testing.T) {
	for unanswered, wrong := range map[int]int{3: 0, 2: 0, 1: 1, 0: 1} {
		a := &Account{Unanswered: unanswered, Buyers: []BuyerAccount{{Unreported: 1}, {Unreported: 1}}}
		if a.checkUnreported(); len(a.Mismatches) != wrong {
			t.Errorf("2 unconfirmed leads, %d unanswered requests: %v", unanswered, a.Mismatches)
		}
	}
}

// TestExchangeMetrics: the exchange's count may include unanswered requests or not.
func TestExchangeMetrics(t *testing.T) {
	const accepted = `pingpost_leads_total{status="ACCEPTED",reason=""}`
	keptMetrics := func(grown, faults, open float64) *metricsWatch {
		return &metricsWatch{samples: []metricsSample{
			{values: map[string]float64{accepted: 100, "pingpost_faults_total": 1}},
			{values: map[string]float64{accepted: 100 + grown, "pingpost_faults_total": 1 + faults, "pingpost_open_deliveries": open}},
		}}
	}
	for _, test := range []struct {
		name  string
		watch *metricsWatch
		wrong string
	}{
		{"the same", keptMetrics(10, 0, 0), ""},
		{"as many more as are unanswered", keptMetrics(12, 0, 0), ""},
		{"more", keptMetrics(13, 0, 0), "counts 13 accepted leads, the client 10"},
		{"fewer", keptMetrics(9, 0, 0), "counts 9 accepted leads, the client 10"},
		{"a fault", keptMetrics(10, 1, 0), "counts 1 faults"},
		{"an open delivery", keptMetrics(10, 0, 2), "2 deliveries are still open"},
	} {
		a := &Account{Sold: 10, Unanswered: 2}
		a.checkMetrics(test.watch)
		if wrong := strings.Join(a.Mismatches, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: mismatches %q", test.name, wrong)
		}
	}
	a := new(Account)
	if a.checkMetrics(newWatch(&Target{})); len(a.Mismatches) > 0 || len(a.Unchecked) != 1 {
		t.Errorf("nobody to ask: %v %v", a.Mismatches, a.Unchecked)
	}
}

func TestBuyersAreSortedAsPeopleCount(t *testing.T) {
	rows := []BuyerAccount{{ID: "buy_10"}, {ID: "buy_2"}, {ID: "buy_1"}}
	slices.SortFunc(rows, byName)
	if rows[0].ID != "buy_1" || rows[1].ID != "buy_2" || rows[2].ID != "buy_10" {
		t.Errorf("%v", rows)
	}
}

// TestWaitForDeliveries waits until no delivery is open, within a limit.
func TestWaitForDeliveries(t *testing.T) {
	s := newStub(t)
	asked := 0
	w := newWatch(s.target())
	s.extra = ""
	s.open = func() int { asked++; return max(0, 3-asked) }
	w.waitForDeliveries(t.Context(), time.Minute)
	if asked != 3 || len(w.samples) != 0 {
		t.Errorf("asked %d times, %d looks kept", asked, len(w.samples))
	}
	s.open = func() int { asked++; return 1 }
	w.waitForDeliveries(t.Context(), 120*time.Millisecond)
	if asked < 4 {
		t.Error("nobody was asked")
	}
}

// TestSourceWithoutAnswer: a source that does not answer is a mismatch, and the result is
// otherwise complete.
func TestSourceWithoutAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		metricsErr, says string
	}{
		"a buyer":      {"/leads", "cannot read the leads of buyer buy"},
		"the receiver": {"/events", "cannot read the events of the webhook receiver"},
		"the exchange": {"/metrics", "cannot read the exchange's metrics"},
	} {
		s := newStub(t)
		s.ingest = func(int) (int, string) { s.metricsErr = test.metricsErr; return 0, "" }
		r := s.tried(t, stubScenario(t, "{ingest: 1}", "webhooks: {within: 100ms}\n"+lenient+"}"))
		if wrong := strings.Join(r.Account.Mismatches, "; "); !strings.Contains(wrong, test.says) || r.Held() || r.Ends["sold"] != 30 {
			t.Errorf("%s: mismatches %q, %v", name, wrong, r.Ends)
		}
	}
}
