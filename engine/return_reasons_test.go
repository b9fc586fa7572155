package engine_test

import (
	"testing"

	"pingpost/engine/market"
)

// A return that is done or pending keeps its reason, so a new report of it gets the present status.
func TestRepeatedReturnNeedsNoListedReason(t *testing.T) {
	rule := func(manual bool, reason string) marketSpec {
		return returnsMarket(returnRule(func(r *market.ReturnRule) { r.Manual, r.Reasons = manual, map[string]struct{}{reason: {}} }))
	}
	for _, test := range []struct {
		name   string
		manual bool
		want   string
	}{
		{"done", false, "returned"},
		{"pending", true, "ACCEPTED waiting"},
	} {
		runWithExchange(t, test.name, rule(test.manual, "wrong number"), func(t *testing.T, x *testExchange) {
			a := x.soldLead(1)
			expectEqual(t, x.reportResult(newReport(a, "returned")), test.want)
			x.configure(rule(false, "moved away"))
			expectEqual(t, x.reportResult(newReport(a, "returned").withKey("again")), test.want, "the reason is no longer listed")
			expectEqual(t, x.reportResult(newReport(a, "returned").withReason("just so").withKey("third")), test.want, "the reason was never listed")
		})
	}
}
