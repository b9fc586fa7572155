package market

import (
	"slices"
	"testing"

	"pingpost/engine/market/calendar"
)

// TestEnumNamesAreFrozen protects the numbers in logs and snapshots and the names in metrics and
// the contract. Only additions at the end are allowed.
func TestEnumNamesAreFrozen(t *testing.T) {
	for kind, frozen := range map[string]struct {
		nameOf  func(number uint8) string
		unknown string
		names   []string
	}{
		"reason": {func(n uint8) string { return UnsoldReason(n).String() }, "unknown", []string{
			"", "no_buyer", "no_state_match", "filtered", "outside_schedule", "caps_full", "insufficient_funds", "rate_limited",
			"timeout", "no_bid", "below_floor", "bid_expired", "post_rejected", "suppressed", "duplicate", "no_campaign", "loop",
		}},
		"verdict": {func(n uint8) string { return PostAttemptVerdict(n).String() }, "unknown_verdict", []string{
			"none", "accepted", "refused", "unreached", "unknown", "busy",
		}},
		"fault": {func(n uint8) string { return OutboundRequestFault(n).String() }, "unknown_fault", []string{
			"none", "endpoint", "credential", "resolve", "forbidden", "connect", "tls", "crowded", "timeout", "broken",
			"too_large", "unreadable", "malformed",
		}},
		"webhook": {func(n uint8) string { return WebhookType(n).String() }, "unknown_hook", []string{
			"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold", "lead.returned", "lead.unmatched", "lead.post_failed",
		}},
		"return": {func(n uint8) string { return ReturnState(n).String() }, "invalid", []string{"none", "waiting", "approved", "refused"}},
		"period": {func(n uint8) string { return calendar.Period(n).String() }, "unknown", []string{"unknown", "hour", "day", "week", "month", "total"}},
		"unit":   {func(n uint8) string { return CapUnit(n).String() }, "unknown", []string{"", "count", "money"}},
		"scope":  {func(n uint8) string { return CapScope(n).String() }, "unknown", []string{"", "campaign", "buyer", "pair", "terms"}},
	} {
		for number, name := range append(frozen.names, frozen.unknown) {
			if got := frozen.nameOf(uint8(number)); got != name {
				t.Errorf("%s %d has the name %q, want %q", kind, number, got, name)
			}
		}
	}
}

// frozenOutcomes are the outcomes in existing logs. Add lines; never change one.
var frozenOutcomes = map[BuyerOutcome]struct {
	name   string
	reason string // the supplier's reason
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
	22: {"other_filter_set", ""},
}

func TestOutcomesAreFrozen(t *testing.T) {
	if len(frozenOutcomes) != OutcomeCount {
		t.Errorf("frozenOutcomes has %d of %d outcomes", len(frozenOutcomes), OutcomeCount)
	}
	seen := map[string]bool{}
	for number, want := range frozenOutcomes {
		if number.String() != want.name || number.UnsoldReasonForSupplier().String() != want.reason {
			t.Errorf("outcome %d is %q with reason %q, want %q with reason %q", number, number, number.UnsoldReasonForSupplier(), want.name, want.reason)
		}
		seen[number.String()] = true
	}
	if len(seen) != OutcomeCount {
		t.Errorf("%d outcomes have only %d distinct names", OutcomeCount, len(seen))
	}
	if BuyerOutcome(OutcomeCount).String() != "unknown" {
		t.Errorf("an unknown outcome is %q", BuyerOutcome(OutcomeCount))
	}
}

func TestLaterStageReasonWins(t *testing.T) {
	stages := []UnsoldReason{
		ReasonNone, ReasonNoBuyer, ReasonNoStateMatch, ReasonFiltered, ReasonOutsideSchedule,
		ReasonCapsFull, ReasonInsufficientFunds, ReasonRateLimited, ReasonTimeout, ReasonNoBid,
		ReasonBelowFloor, ReasonBidExpired, ReasonPostRejected,
	}
	for i, early := range stages {
		for _, late := range stages[i:] {
			if early.LaterStageReason(late) != late || late.LaterStageReason(early) != late {
				t.Errorf("later of %q and %q: %q and %q, want the second", early, late, early.LaterStageReason(late), late.LaterStageReason(early))
			}
		}
	}
	// A buyer outside its schedule matters more to the supplier than one that knows the lead.
	for _, own := range []UnsoldReason{ReasonSuppressed, ReasonDuplicate} {
		if own.LaterStageReason(ReasonFiltered) != own || own.LaterStageReason(ReasonOutsideSchedule) != ReasonOutsideSchedule {
			t.Errorf("the rank of %q is not between filters and schedule", own)
		}
	}
}

// TestNoCampaignAndLoopReasonsRankLowest: both end a ping before there is a candidate, so any
// other reason wins and no candidate's outcome maps to them.
func TestNoCampaignAndLoopReasonsRankLowest(t *testing.T) {
	for _, early := range []UnsoldReason{ReasonNoCampaign, ReasonLoop} {
		if ReasonNone.LaterStageReason(early) != early {
			t.Errorf("%q does not win over no reason", early)
		}
		for other := range reasonEnd {
			if other == ReasonNone || other == ReasonNoCampaign || other == ReasonLoop {
				continue
			}
			if got := early.LaterStageReason(other); got != other {
				t.Errorf("later of %q and %q: %q, want the second", early, other, got)
			}
		}
		for outcome := range outcomeEnd {
			if outcome.UnsoldReasonForSupplier() == early {
				t.Errorf("outcome %q has the supplier reason %q", outcome, early)
			}
		}
	}
}

func TestReasonRanksAreUnique(t *testing.T) {
	ranks := slices.Clone(reasonRank[:])
	slices.Sort(ranks)
	if len(slices.Compact(ranks)) != int(reasonEnd) {
		t.Errorf("reasons share a rank: %v", reasonRank)
	}
}
