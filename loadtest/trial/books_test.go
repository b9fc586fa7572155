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

// boughtBy is what a buyer says that has these leads, for a dollar each.
func boughtBy(ids string, change func(*refbuyer.Stats)) bought {
	b := bought{leads: leadsOf(ids)}
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
		before, after bought
		told          string
		money         market.Money
		foreign       bool // the target's payout is not known to be its price
		want          BuyerAccount
		wrong         string
	}{
		{
			"as it should be", boughtBy("", nil), boughtBy("a b", nil), "a b", 2_000_000, false,
			BuyerAccount{Sold: 2, Taken: 2, Money: 2_000_000, Owes: 2_000_000},
			"",
		},
		{
			"leads of another day", boughtBy("x y z", func(s *refbuyer.Stats) { s.Pings, s.Bids, s.DoubleSold = 9, 8, 2 }),
			boughtBy("x y z a", func(s *refbuyer.Stats) { s.Pings, s.Bids, s.DoubleSold = 12, 10, 2 }), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 1, Money: 1_000_000, Owes: 1_000_000, Pings: 3, Bids: 2},
			"",
		},
		{
			"one is lost", boughtBy("", nil), boughtBy("a", nil), "a b", 1_000_000, false,
			BuyerAccount{Sold: 2, Taken: 1, Lost: 1, Money: 1_000_000, Owes: 1_000_000},
			"buy does not have 1 leads",
		},
		{
			"one that nobody was told of", boughtBy("", nil), boughtBy("a b", nil), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 2, Beyond: 1, Money: 1_000_000, Owes: 2_000_000},
			"",
		},
		{
			"too little money", boughtBy("", nil), boughtBy("a", nil), "a", 2_000_000, false,
			BuyerAccount{Sold: 1, Taken: 1, Money: 2_000_000, Owes: 1_000_000},
			"buy owes 1 for its leads, and 2 was told",
		},
		{
			"too little, with one beyond", boughtBy("", nil), boughtBy("a b", nil), "a", 3_000_000, false,
			BuyerAccount{Sold: 1, Taken: 2, Beyond: 1, Money: 3_000_000, Owes: 2_000_000},
			"less than the 3 that was told",
		},
		{
			"another's payout", boughtBy("", nil), boughtBy("a", nil), "a", 800_000, true,
			BuyerAccount{Sold: 1, Taken: 1, Money: 800_000, Owes: 1_000_000},
			"",
		},
		{
			"sold twice", boughtBy("", nil), boughtBy("a", func(s *refbuyer.Stats) { s.DoubleSold = 1 }), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 1, Money: 1_000_000, Owes: 1_000_000, DoubleSold: 1},
			"buy was sold 1 leads twice",
		},
		{
			"a person in a ping", boughtBy("", nil), boughtBy("a", func(s *refbuyer.Stats) { s.ContactSeen = 4 }), "a", 1_000_000, false,
			BuyerAccount{Sold: 1, Taken: 1, Money: 1_000_000, Owes: 1_000_000, ContactSeen: 4},
			"pinged 4 times with a person",
		},
	} {
		a := new(Account)
		a.buyer("buy", test.before, test.after, leadsOf(test.told), test.money, map[string]string{}, !test.foreign)
		test.want.ID = "buy"
		if len(a.Buyers) != 1 || a.Buyers[0] != test.want {
			t.Errorf("%s: %+v", test.name, a.Buyers)
		}
		if wrong := strings.Join(a.Wrong, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: told %q", test.name, wrong)
		}
	}
}

// TestWhatABuyerHasForgotten cannot be missed.
func TestWhatABuyerHasForgotten(t *testing.T) {
	a := new(Account)
	a.buyer("buy", boughtBy("", nil), boughtBy("b", func(s *refbuyer.Stats) {
		s.Forgotten, s.Accepted, s.Revenue = 1, 2, 2_000_000
	}), leadsOf("a b"), 2_000_000, map[string]string{}, true)
	if len(a.Wrong) > 0 || len(a.NotChecked) != 1 || !strings.Contains(a.NotChecked[0], "forgotten 1 posts") {
		t.Errorf("%v %v", a.Wrong, a.NotChecked)
	}
}

// TestOneLeadOfTwoBuyers is told with both their names.
func TestOneLeadOfTwoBuyers(t *testing.T) {
	a, taken := new(Account), map[string]string{}
	a.buyer("blue", bought{}, boughtBy("a b", nil), leadsOf("a b"), 2_000_000, taken, true)
	a.buyer("red", bought{}, boughtBy("b", nil), nil, 0, taken, true)
	if got := strings.Join(a.Wrong, "; "); got != "lead b was sold to blue and to red" {
		t.Error(got)
	}
}

// TestLeadsBeyond: as many as there are requests without an answer are nobody's fault.
func TestLeadsBeyond(t *testing.T) {
	for unsettled, wrong := range map[int]int{3: 0, 2: 0, 1: 1, 0: 1} {
		a := &Account{Unsettled: unsettled, Buyers: []BuyerAccount{{Beyond: 1}, {Beyond: 1}}}
		if a.beyond(); len(a.Wrong) != wrong {
			t.Errorf("2 beyond, %d unsettled: %v", unsettled, a.Wrong)
		}
	}
}

// TestTheExchangesOwnCount: what was not answered may be in it or not.
func TestTheExchangesOwnCount(t *testing.T) {
	const accepted = `pingpost_leads_total{status="ACCEPTED",reason=""}`
	watched := func(grown, faults, open float64) *watch {
		return &watch{looks: []look{
			{values: map[string]float64{accepted: 100, "pingpost_faults_total": 1}},
			{values: map[string]float64{accepted: 100 + grown, "pingpost_faults_total": 1 + faults, "pingpost_open_deliveries": open}},
		}}
	}
	for _, test := range []struct {
		name  string
		watch *watch
		wrong string
	}{
		{"the same", watched(10, 0, 0), ""},
		{"as many more as are unsettled", watched(12, 0, 0), ""},
		{"more", watched(13, 0, 0), "counts 13 accepted leads, and 10"},
		{"fewer", watched(9, 0, 0), "counts 9 accepted leads, and 10"},
		{"a fault", watched(10, 1, 0), "counts 1 faults"},
		{"a delivery without an end", watched(10, 0, 2), "2 deliveries are still under way"},
	} {
		a := &Account{Sold: 10, Unsettled: 2}
		a.ownCount(test.watch)
		if wrong := strings.Join(a.Wrong, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: told %q", test.name, wrong)
		}
	}
	a := new(Account)
	if a.ownCount(newWatch(&Target{})); len(a.Wrong) > 0 || len(a.NotChecked) != 1 {
		t.Errorf("nobody to ask: %v %v", a.Wrong, a.NotChecked)
	}
}

func TestBuyersAreSortedAsPeopleCount(t *testing.T) {
	rows := []BuyerAccount{{ID: "buy_10"}, {ID: "buy_2"}, {ID: "buy_1"}}
	slices.SortFunc(rows, byName)
	if rows[0].ID != "buy_1" || rows[1].ID != "buy_2" || rows[2].ID != "buy_10" {
		t.Errorf("%v", rows)
	}
}

// TestSettlingWaits until nothing is under way, and not for ever.
func TestSettlingWaits(t *testing.T) {
	s := newStub(t)
	asked := 0
	w := newWatch(s.target())
	s.extra = ""
	s.open = func() int { asked++; return max(0, 3-asked) }
	w.settle(t.Context(), time.Minute)
	if asked != 3 || len(w.looks) != 0 {
		t.Errorf("asked %d times, %d looks kept", asked, len(w.looks))
	}
	s.open = func() int { asked++; return 1 }
	w.settle(t.Context(), 120*time.Millisecond)
	if asked < 4 {
		t.Error("nobody was asked")
	}
}

// TestWhatManyLeadsCost is more than one may.
func TestWhatManyLeadsCost(t *testing.T) {
	s := newStub(t)
	s.stats.Revenue = 2_345_678_901_230
	if b, err := askBuyer(t.Context(), s.URL); err != nil || b.Revenue != s.stats.Revenue {
		t.Errorf("%v %v", b.Revenue, err)
	}
	for digits, want := range map[string]market.Money{"0": 0, "7.5": 7_500_000, "1000001": 1_000_001_000_000, "0.000001": 1} {
		if got, err := total(digits); err != nil || got != want {
			t.Errorf("%s is %v, %v", digits, int64(got), err)
		}
	}
	for _, digits := range []string{"", "much", "1.0000001", "1e9", "99999999999999999999"} {
		if _, err := total(digits); err == nil {
			t.Errorf("%q is taken", digits)
		}
	}
}

// TestWhoFallsSilent is told, and the rest of the result with it.
func TestWhoFallsSilent(t *testing.T) {
	for name, test := range map[string]struct {
		silent, says string
	}{
		"a buyer":      {"/leads", "buyer buy does not say what it has"},
		"the receiver": {"/events", "the receiver of webhooks does not say"},
		"the exchange": {"/metrics", "the exchange does not give its figures"},
	} {
		s := newStub(t)
		s.ingest = func(int) (int, string) { s.silent = test.silent; return 0, "" }
		r := s.tried(t, stubScenario(t, "{ingest: 1}", "webhooks: {within: 100ms}\n"+lenient+"}"))
		if wrong := strings.Join(r.Account.Wrong, "; "); !strings.Contains(wrong, test.says) || r.Held() || r.Ends["sold"] != 30 {
			t.Errorf("%s: told %q, %v", name, wrong, r.Ends)
		}
	}
}
