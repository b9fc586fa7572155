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

// A stage is a way to keep a buyer from having a lead, and what the supplier is
// told where that is as far as the lead came.
type stage struct {
	reason string
	rig    func(b *buyer, s *seat)
	before func(x *exchange, buyer string)
}

// stages are in the order of the contract: the furthest that any candidate
// reached is the reason.
func stages() []stage {
	few := "5"
	return []stage{
		{reason: "no_state_match", rig: func(_ *buyer, s *seat) { s.states = "NY" }},
		{reason: "filtered", rig: func(_ *buyer, s *seat) { s.filters = []market.FilterSpec{{Field: "vehicles", Min: &few}} }},
		{reason: "suppressed", rig: func(b *buyer, _ *seat) { b.refuses = []string{"dnc"} }},
		{reason: "outside_schedule", rig: func(b *buyer, _ *seat) { b.schedule = "UTC Mon 08:00-18:00" }},
		{reason: "outside_schedule", rig: func(_ *buyer, s *seat) { s.schedule = "UTC Mon 08:00-18:00" }},
		{reason: "caps_full", rig: func(b *buyer, _ *seat) { b.caps = []string{"day 0"} }},
		{reason: "insufficient_funds", rig: func(b *buyer, _ *seat) { b.funds = "9" }},
		{reason: "no_bid", before: func(x *exchange, buyer string) {
			must.Succeed(x.t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, buyer, true))
		}},
		{reason: "below_floor", rig: func(_ *buyer, s *seat) { s.price = "7" }},
		{reason: "post_rejected", rig: func(b *buyer, _ *seat) { b.posts = true }, before: func(x *exchange, buyer string) {
			x.world.script(buyer, refuses)
		}},
	}
}

func staged(t *testing.T, all ...stage) *exchange {
	r := rig{
		lists:     []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0001"}}},
		campaigns: []campaign{{method: market.Waterfall, floor: "8"}},
	}
	names := []string{"blue", "gold", "red"}
	for i, s := range all {
		b, place := buyer{id: names[i]}, seat{buyer: names[i]}
		if s.rig != nil {
			s.rig(&b, &place)
		}
		r.buyers = append(r.buyers, b)
		r.campaigns[0].seats = append(r.campaigns[0].seats, place)
	}
	x := begin(t, r)
	for i, s := range all {
		if s.before != nil {
			s.before(x, names[i])
		}
	}
	return x
}

func TestReasonIsTheFurthestStage(t *testing.T) {
	bubble(t, "no_buyer", func(t *testing.T) {
		expectEqual(t, staged(t).tell(person(1)), "no_buyer")
	})
	all := stages()
	for i, far := range all {
		for _, near := range all[:i+1] {
			bubble(t, near.reason+" and "+far.reason, func(t *testing.T) {
				for _, pair := range [][]stage{{near, far}, {far, near}} {
					expectEqual(t, staged(t, pair...).tell(person(1, "vehicles", "#2")), far.reason)
				}
			})
		}
	}
}

// A stage that shuts one buyer shuts no other. Every candidate comes to exactly one
// outcome, and the trail says which.
func TestNextBuyerIsAsked(t *testing.T) {
	for _, s := range stages() {
		bubble(t, s.reason, func(t *testing.T) {
			x := staged(t, s, stage{}, stage{})
			expectEqual(t, x.tell(person(1, "vehicles", "#2")), "gold")
			trail := recordsOf[*event.LeadDecided](x)[0].Trail
			for _, settled := range recordsOf[*event.PostSettled](x) {
				trail = settled.Trail
			}
			if got := x.outcomes(trail); len(trail) != 2 || !strings.HasSuffix(got, " gold:won ") {
				t.Fatalf("%d steps: %s", len(trail), got)
			}
			for _, step := range trail {
				if step.FilterSets.Has(0) {
					expectEqual(t, step.Outcome.SupplierReason().String(), s.reason, "blue's reason")
				}
			}
		})
	}
}

// What the campaign does not take at all ends the matter before any buyer.
func TestInboundEndsTheMatter(t *testing.T) {
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
		bubble(t, "suppressed by "+kind.String(), func(t *testing.T) {
			x := begin(t, rig{
				buyers: []buyer{{id: "blue", posts: true}},
				lists: []list{
					{id: "phones", field: market.ListPhone, hash: kind, entries: []string{hash(kind, "+14152000001"), hash(kind, "4152000002"), hash(kind, "14152000003")}},
					{id: "emails", field: market.ListEmail, hash: kind, entries: []string{hash(kind, "p4@example.com")}},
				},
				campaigns: []campaign{{method: market.Waterfall, suppress: []string{"phones", "emails"}, seats: []seat{{buyer: "blue"}}}},
			})
			expectEqual(t, x.told(0, 6), "blue suppressed suppressed suppressed suppressed blue")
			expectEqual(t, x.tell(person(9, "email", "P4@Example.COM")), "suppressed", "an email in capitals")
			expectEqual(t, len(x.world.tried()), 2, "posted ", x.world.tried())
			for _, lead := range recordsOf[*event.LeadDecided](x) {
				if lead.Reason == market.ReasonSuppressed && len(lead.Trail) > 0 {
					t.Errorf("a suppressed lead has a trail: %v", lead.Trail)
				}
			}
		})
	}
	bubble(t, "filtered", func(t *testing.T) {
		four := "4"
		x := begin(t, rig{
			buyers: []buyer{{id: "blue"}},
			campaigns: []campaign{{
				method: market.Waterfall, seats: []seat{{buyer: "blue"}},
				filters: []market.FilterSpec{{Field: "vehicles", Max: &four}, {Field: "owns_home", In: []string{"true"}}},
			}},
		})
		for _, test := range []struct{ vehicles, home, want string }{
			{"#4", "#true", "blue"}, {"#5", "#true", "filtered"}, {"#1", "#false", "filtered"}, {"-", "#true", "filtered"}, {"#1", "-", "filtered"},
		} {
			expectEqual(t, x.tell(person(1, "vehicles", test.vehicles, "homeowner", test.home)), test.want, test)
		}
	})
}

// A list may be changed by a new configuration's tables at any time.
func TestListsContentsAreTheLatest(t *testing.T) {
	bubble(t, "reload", func(t *testing.T) {
		r := rig{
			buyers:    []buyer{{id: "blue", refuses: []string{"own"}}, {id: "gold"}},
			lists:     []list{{id: "own", field: market.ListEmail, hash: market.HashPlain, entries: []string{"p1@example.com"}}},
			campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}, {buyer: "gold"}}}},
		}
		x := begin(t, r)
		before := x.told(1, 2)
		r.lists = []list{{id: "own", field: market.ListEmail, hash: market.HashPlain, entries: []string{"p2@example.com"}}}
		x.configure(r)
		expectEqual(t, before+", "+x.told(1, 2), "gold blue, blue gold")
	})
}
