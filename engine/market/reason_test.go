package market

import (
	"slices"
	"testing"

	"pingpost/engine/market/calendar"
)

// Logs and snapshots hold these numbers, and metrics and the contract the names: a name may be
// added at the end, and none changed.
func TestNamesAreFrozen(t *testing.T) {
	for kind, frozen := range map[string]struct {
		nameOf    func(number uint8) string
		otherwise string
		names     []string
	}{
		"reason": {func(n uint8) string { return UnsoldReason(n).String() }, "unknown", []string{
			"", "no_buyer", "no_state_match", "filtered", "outside_schedule", "caps_full", "insufficient_funds", "rate_limited",
			"timeout", "no_bid", "below_floor", "bid_expired", "post_rejected", "suppressed", "duplicate", "no_campaign", "loop",
		}},
		"verdict": {func(n uint8) string { return PostVerdict(n).String() }, "unknown_verdict", []string{
			"none", "accepted", "refused", "unreached", "unknown", "busy",
		}},
		"fault": {func(n uint8) string { return RequestFault(n).String() }, "unknown_fault", []string{
			"none", "endpoint", "credential", "resolve", "forbidden", "connect", "tls", "crowded", "timeout", "broken",
			"too_large", "unreadable", "malformed",
		}},
		"webhook": {func(n uint8) string { return WebhookType(n).String() }, "unknown_hook", []string{
			"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold", "lead.returned", "lead.unmatched", "lead.post_failed",
		}},
		"return": {func(n uint8) string { return ReturnState(n).String() }, "invalid", []string{"none", "waiting", "approved", "refused"}},
		"period": {func(n uint8) string { return calendar.Period(n).String() }, "unknown", []string{"unknown", "hour", "day", "week", "month", "total"}},
		"unit":   {func(n uint8) string { return CapUnit(n).String() }, "unknown", []string{"", "count", "money"}},
		"scope":  {func(n uint8) string { return CapScope(n).String() }, "unknown", []string{"", "campaign", "buyer", "pair"}},
	} {
		for number, name := range append(frozen.names, frozen.otherwise) {
			if got := frozen.nameOf(uint8(number)); got != name {
				t.Errorf("%s %d is called %q, was %q", kind, number, got, name)
			}
		}
	}
}

// The log holds these numbers: a line here may be added, never changed.
var frozenOutcomes = map[BuyerOutcome]struct {
	name   string
	reason string // what a supplier is told
}{
	0:  {"not_asked", ""},
	1:  {"won", ""},
	2:  {"lost", ""},
	3:  {"below_floor", "below_floor"},
	4:  {"wrong_currency", "no_bid"},
	5:  {"late", "no_bid"},
	6:  {"timeout", "no_bid"},
	7:  {"no_bid", "no_bid"},
	8:  {"invalid", "no_bid"},
	9:  {"rate_limited", "rate_limited"},
	10: {"capped", "caps_full"},
	11: {"filtered", "filtered"},
	12: {"wrong_state", "no_state_match"},
	13: {"closed", "outside_schedule"},
	14: {"no_funds", "insufficient_funds"},
	15: {"suppressed", "suppressed"},
	16: {"unhealthy", "no_bid"},
	17: {"paused", "no_bid"},
	18: {"error", "no_bid"},
	19: {"post_rejected", "post_rejected"},
	20: {"post_pending", ""},
	21: {"duplicate", "duplicate"},
}

func TestOutcomesAreFrozen(t *testing.T) {
	if len(frozenOutcomes) != OutcomeCount {
		t.Errorf("%d outcomes, %d of them frozen", OutcomeCount, len(frozenOutcomes))
	}
	seen := map[string]bool{}
	for number, want := range frozenOutcomes {
		if number.String() != want.name || number.SupplierReason().String() != want.reason {
			t.Errorf("outcome %d is %q, told as %q; was %q, told as %q", number, number, number.SupplierReason(), want.name, want.reason)
		}
		seen[number.String()] = true
	}
	if len(seen) != OutcomeCount {
		t.Errorf("%d outcomes have %d names", OutcomeCount, len(seen))
	}
	if BuyerOutcome(OutcomeCount).String() != "unknown" {
		t.Errorf("a number past the last is %q", BuyerOutcome(OutcomeCount))
	}
}

func TestFurthestReasonIsTold(t *testing.T) {
	stages := []UnsoldReason{
		ReasonNone, ReasonNoBuyer, ReasonNoStateMatch, ReasonFiltered, ReasonOutsideSchedule,
		ReasonCapsFull, ReasonInsufficientFunds, ReasonRateLimited, ReasonTimeout, ReasonNoBid,
		ReasonBelowFloor, ReasonBidExpired, ReasonPostRejected,
	}
	for i, early := range stages {
		for _, late := range stages[i:] {
			if early.LaterStageReason(late) != late || late.LaterStageReason(early) != late {
				t.Errorf("of %q and %q, %q and %q are told", early, late, early.LaterStageReason(late), late.LaterStageReason(early))
			}
		}
	}
	// One buyer that knows the lead says less than another that would have
	// taken it at a better hour.
	for _, own := range []UnsoldReason{ReasonSuppressed, ReasonDuplicate} {
		if own.LaterStageReason(ReasonFiltered) != own || own.LaterStageReason(ReasonOutsideSchedule) != ReasonOutsideSchedule {
			t.Errorf("%q stands elsewhere than beside the filters", own)
		}
	}
}

// What ends a ping before there is any candidate is told where there is nothing
// else to tell, and no candidate's outcome is told as it.
func TestAPingThatFindsNoCampaignStandsApart(t *testing.T) {
	for _, apart := range []UnsoldReason{ReasonNoCampaign, ReasonLoop} {
		if ReasonNone.LaterStageReason(apart) != apart {
			t.Errorf("%q is not told at all", apart)
		}
		for other := range reasonEnd {
			if other == ReasonNone || other == ReasonNoCampaign || other == ReasonLoop {
				continue
			}
			if got := apart.LaterStageReason(other); got != other {
				t.Errorf("of %q and %q, %q is told", apart, other, got)
			}
		}
		for outcome := range outcomeEnd {
			if outcome.SupplierReason() == apart {
				t.Errorf("a candidate that is %q is told as %q", outcome, apart)
			}
		}
	}
}

func TestEveryReasonHasItsOwnRank(t *testing.T) {
	ranks := slices.Clone(reasonRank[:])
	slices.Sort(ranks)
	if len(slices.Compact(ranks)) != int(reasonEnd) {
		t.Errorf("two reasons share a rank: %v", reasonRank)
	}
}
