package engine_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
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
			if err := x.engine.By("").Pause(event.ObjectBuyer, buyer, true); err != nil {
				x.t.Fatal(err)
			}
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
		if got := staged(t).tell(person(1)); got != "no_buyer" {
			t.Error(got)
		}
	})
	all := stages()
	for i, far := range all {
		for _, near := range all[:i+1] {
			bubble(t, near.reason+" and "+far.reason, func(t *testing.T) {
				for _, pair := range [][]stage{{near, far}, {far, near}} {
					if got := staged(t, pair...).tell(person(1, "vehicles", "#2")); got != far.reason {
						t.Errorf("%s, want %s", got, far.reason)
					}
				}
			})
		}
	}
}

// A stage that shuts one buyer shuts no other.
func TestNextBuyerIsAsked(t *testing.T) {
	for _, s := range stages() {
		bubble(t, s.reason, func(t *testing.T) {
			if got := staged(t, s, stage{}).tell(person(1, "vehicles", "#2")); got != "gold" {
				t.Errorf("%s, want gold", got)
			}
		})
	}
}

// What the campaign does not take at all ends the matter before any buyer.
func TestInboundEndsTheMatter(t *testing.T) {
	hash := func(list market.SuppressionHash, value string) string {
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
	for _, kind := range []market.SuppressionHash{market.HashPlain, market.HashMD5, market.HashSHA256} {
		bubble(t, "suppressed by "+kind.String(), func(t *testing.T) {
			x := begin(t, rig{
				buyers: []buyer{{id: "blue", posts: true}},
				lists: []list{
					{id: "phones", field: market.ListPhone, hash: kind, entries: []string{hash(kind, "+14152000001"), hash(kind, "4152000002"), hash(kind, "14152000003")}},
					{id: "emails", field: market.ListEmail, hash: kind, entries: []string{hash(kind, "p4@example.com")}},
				},
				campaigns: []campaign{{method: market.Waterfall, suppress: []string{"phones", "emails"}, seats: []seat{{buyer: "blue"}}}},
			})
			begun := x.log.len()
			defer func() { x.inboundTrails(begun) }()
			if got := x.told(0, 6); got != "blue suppressed suppressed suppressed suppressed blue" {
				t.Error(got)
			}
			if got := x.tell(person(9, "email", "P4@Example.COM")); got != "suppressed" {
				t.Errorf("an email in capitals: %s", got)
			}
			if len(x.world.tried()) != 2 {
				t.Errorf("posted %v", x.world.tried())
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
			if got := x.tell(person(1, "vehicles", test.vehicles, "homeowner", test.home)); got != test.want {
				t.Errorf("%+v: %s", test, got)
			}
		}
	})
}

// inboundTrails sees that what never came to a buyer says nothing of buyers.
func (x *exchange) inboundTrails(from int) {
	var decoder event.Decoder
	for _, e := range x.log.durable()[from:] {
		fact, err := decoder.Decode(e.data)
		if err != nil {
			x.t.Fatal(err)
		}
		if lead, ok := fact.(*event.LeadDecided); ok && lead.Reason == market.ReasonSuppressed && len(lead.Trail) > 0 {
			x.t.Errorf("a suppressed lead has a trail: %v", lead.Trail)
		}
	}
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
		if got := before + ", " + x.told(1, 2); got != "gold blue, blue gold" {
			t.Error(got)
		}
	})
}

// Every candidate comes to exactly one outcome, and the trail says which.
func TestTrailNamesEachCandidateOnce(t *testing.T) {
	for _, s := range stages() {
		bubble(t, s.reason, func(t *testing.T) {
			x := staged(t, s, stage{}, stage{})
			x.tell(person(1, "vehicles", "#2"))
			seen := map[int]market.Outcome{}
			for _, e := range x.log.durable() {
				var decoder event.Decoder
				fact, err := decoder.Decode(e.data)
				if err != nil {
					t.Fatal(err)
				}
				var trail []event.OutcomeFilterSets
				switch fact := fact.(type) {
				case *event.LeadDecided:
					trail = fact.Trail
				case *event.PostSettled:
					trail = fact.Trail
				}
				if len(trail) > 0 {
					clear(seen)
				}
				for _, step := range trail {
					for i := step.FilterSets.NextFrom(0); i >= 0; i = step.FilterSets.NextFrom(i + 1) {
						if had, twice := seen[i]; twice {
							t.Errorf("seat %d came to %s and to %s", i, had, step.Outcome)
						}
						seen[i] = step.Outcome
					}
				}
			}
			if seen[1] != market.OutcomeWon || seen[0].SupplierReason().String() != s.reason || len(seen) != 2 {
				t.Errorf("outcomes %v", seen)
			}
		})
	}
}
