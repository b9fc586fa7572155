package engine_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// exclusion is a condition that keeps a lead from a buyer, and the reason that the
// supplier gets if no buyer passes it.
type exclusion struct {
	reason string
	change func(b *buyer, s *filterSet)
	before func(x *testExchange, buyer string)
}

// exclusions returns them in the order of the contract: the last one that any buyer
// reaches gives the reason.
func exclusions() []exclusion {
	few := "5"
	return []exclusion{
		{reason: "no_state_match", change: func(_ *buyer, s *filterSet) { s.states = "NY" }},
		{reason: "filtered", change: func(_ *buyer, s *filterSet) { s.filters = []market.FilterSpec{{Field: "vehicles", Min: &few}} }},
		{reason: "filtered", change: func(_ *buyer, s *filterSet) { s.notSuppliers = []string{"acme"} }},
		{reason: "suppressed", change: func(b *buyer, _ *filterSet) { b.suppress = []string{"dnc"} }},
		{reason: "outside_schedule", change: func(b *buyer, _ *filterSet) { b.schedule = "UTC Mon 08:00-18:00" }},
		{reason: "outside_schedule", change: func(_ *buyer, s *filterSet) { s.schedule = "UTC Mon 08:00-18:00" }},
		{reason: "outside_schedule", change: func(b *buyer, _ *filterSet) { b.schedule = "UTC closed 01-01" }},
		{reason: "caps_full", change: func(b *buyer, _ *filterSet) { b.caps = []string{"day 0"} }},
		{reason: "caps_full", change: func(_ *buyer, s *filterSet) { s.modifiers = []modifier{{"UTC Sat 00:00-24:00", "", "0"}} }},
		{reason: "insufficient_funds", change: func(b *buyer, _ *filterSet) { b.funds = "9" }},
		{reason: "no_bid", before: func(x *testExchange, buyer string) {
			must.Succeed(x.t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, buyer, true))
		}},
		{reason: "below_floor", change: func(_ *buyer, s *filterSet) { s.price = "7" }},
		{reason: "below_floor", change: func(_ *buyer, s *filterSet) { s.modifiers = []modifier{{"UTC Sat 00:00-24:00", "0.799999", ""}} }},
		{reason: "post_rejected", change: func(b *buyer, _ *filterSet) { b.postEndpoint = true }, before: func(x *testExchange, buyer string) {
			x.buyers.scriptPosts(buyer, refuses)
		}},
	}
}

// newExchangeWith starts an exchange with one buyer for each exclusion.
func newExchangeWith(t *testing.T, all ...exclusion) *testExchange {
	r := marketSpec{
		lists:     []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0001"}}},
		campaigns: []campaign{{method: market.Waterfall, floor: "8"}},
	}
	names := []string{"blue", "gold", "red"}
	for i, s := range all {
		b, set := buyer{id: names[i]}, filterSet{buyer: names[i]}
		if s.change != nil {
			s.change(&b, &set)
		}
		r.buyers = append(r.buyers, b)
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, set)
	}
	x := newExchange(t, r)
	for i, s := range all {
		if s.before != nil {
			s.before(x, names[i])
		}
	}
	return x
}

func TestReasonIsLastExclusionReached(t *testing.T) {
	runInVirtualTime(t, "no_buyer", func(t *testing.T) {
		expectEqual(t, newExchangeWith(t).ingestResult(leadRequest(1)), "no_buyer")
	})
	all := exclusions()
	for i, later := range all {
		for _, earlier := range all[:i+1] {
			runInVirtualTime(t, earlier.reason+" and "+later.reason, func(t *testing.T) {
				for _, pair := range [][]exclusion{{earlier, later}, {later, earlier}} {
					expectEqual(t, newExchangeWith(t, pair...).ingestResult(leadRequest(1, "vehicles", "#2")), later.reason)
				}
			})
		}
	}
}

// Each buyer that was considered has exactly one outcome in the trail.
func TestExcludedBuyerDoesNotStopNextBuyer(t *testing.T) {
	for _, s := range exclusions() {
		runInVirtualTime(t, s.reason, func(t *testing.T) {
			x := newExchangeWith(t, s, exclusion{}, exclusion{})
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2")), "gold")
			trail := eventsOf[*event.LeadDecided](x)[0].Trail
			for _, settled := range eventsOf[*event.PostSettled](x) {
				trail = settled.Trail
			}
			if got := x.describeOutcomes(trail); len(trail) != 2 || !strings.HasSuffix(got, " gold:won ") {
				t.Fatalf("trail has %d steps, want 2 and gold:won last: %s", len(trail), got)
			}
			for _, step := range trail {
				if step.FilterSets.Has(0) {
					expectEqual(t, step.Outcome.UnsoldReasonForSupplier().String(), s.reason, "blue's reason")
				}
			}
		})
	}
}

// A campaign rejects these leads before it considers any buyer.
func TestCampaignSuppressionAndFilters(t *testing.T) {
	hash := func(list market.SuppressionHashKind, value string) string {
		switch list {
		case market.HashMD5:
			sum := md5.Sum([]byte(value))
			return hex.EncodeToString(sum[:])
		case market.HashSHA256:
			sum := sha256.Sum256([]byte(value))
			return strings.ToUpper(hex.EncodeToString(sum[:]))
		}
		return value
	}
	for _, kind := range []market.SuppressionHashKind{market.HashPlain, market.HashMD5, market.HashSHA256} {
		runInVirtualTime(t, "suppressed by "+kind.String(), func(t *testing.T) {
			x := newExchange(t, marketSpec{
				buyers: []buyer{{id: "blue", postEndpoint: true}},
				lists: []list{
					{id: "phones", field: market.ListPhone, hash: kind, entries: []string{hash(kind, "+14152000001"), hash(kind, "4152000002"), hash(kind, "14152000003")}},
					{id: "emails", field: market.ListEmail, hash: kind, entries: []string{hash(kind, "p4@example.com")}},
				},
				campaigns: []campaign{{method: market.Waterfall, suppress: []string{"phones", "emails"}, filterSets: []filterSet{{buyer: "blue"}}}},
			})
			expectEqual(t, x.ingestResults(0, 6), "blue suppressed suppressed suppressed suppressed blue")
			expectEqual(t, x.ingestResult(leadRequest(9, "email", "P4@Example.COM")), "suppressed", "email in capitals")
			expectEqual(t, len(x.buyers.postAttempts()), 2, "posts ", x.buyers.postAttempts())
			for _, lead := range eventsOf[*event.LeadDecided](x) {
				if lead.Reason == market.ReasonSuppressed && len(lead.Trail) > 0 {
					t.Errorf("a suppressed lead has a trail: %v", lead.Trail)
				}
			}
		})
	}
	runInVirtualTime(t, "filtered", func(t *testing.T) {
		four := "4"
		x := newExchange(t, marketSpec{
			buyers: []buyer{{id: "blue"}},
			campaigns: []campaign{{
				method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}},
				filters: []market.FilterSpec{{Field: "vehicles", Max: &four}, {Field: "owns_home", In: []string{"true"}}},
			}},
		})
		for _, test := range []struct{ vehicles, home, want string }{
			{"#4", "#true", "blue"}, {"#5", "#true", "filtered"}, {"#1", "#false", "filtered"}, {"-", "#true", "filtered"}, {"#1", "-", "filtered"},
		} {
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", test.vehicles, "homeowner", test.home)), test.want, test)
		}
	})
}

func TestReloadedSuppressionListApplies(t *testing.T) {
	runInVirtualTime(t, "reload", func(t *testing.T) {
		r := marketSpec{
			buyers:    []buyer{{id: "blue", suppress: []string{"own"}}, {id: "gold"}},
			lists:     []list{{id: "own", field: market.ListEmail, hash: market.HashPlain, entries: []string{"p1@example.com"}}},
			campaigns: []campaign{{method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}, {buyer: "gold"}}}},
		}
		x := newExchange(t, r)
		before := x.ingestResults(1, 2)
		r.lists = []list{{id: "own", field: market.ListEmail, hash: market.HashPlain, entries: []string{"p2@example.com"}}}
		x.configure(r)
		expectEqual(t, before+", "+x.ingestResults(1, 2), "gold blue, blue gold")
	})
}
