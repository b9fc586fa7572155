package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
)

// expectedReason is what an answer to one report, or to the first of many, expects of
// its reason.
func expectedReason(a engine.StatusAnswer, err error) string {
	var fields []market.FieldError
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		fields = refusal.Fields
	} else if len(a.Results) > 0 {
		fields = a.Results[0].Fields
	}
	for _, f := range fields {
		if f.Field == "reason" {
			return f.Expected
		}
	}
	return fmt.Sprint("no fault of the reason: ", saidStatus(a, err))
}

// TestRefusedReturnNamesTheReasons: a buyer whose reason is refused learns the
// allowed ones, in a report of one lead as of many, and a repeat says the same
// after the campaign has changed its list.
func TestRefusedReturnNamesTheReasons(t *testing.T) {
	rule := func(reasons ...string) rig {
		return bought(returns(func(r *market.ReturnRule) {
			r.Reasons = map[string]struct{}{}
			for _, reason := range reasons {
				r.Reasons[reason] = struct{}{}
			}
		}))
	}
	trading(t, "one and many", rule("wrong number", "not interested"), func(t *testing.T, x *exchange) {
		a := x.sold(1)
		const want = `one of the reasons for which this campaign takes leads back: "not interested", "wrong number"`
		refused := saying(a, "returned").because("just so")
		expectEqual(t, expectedReason(x.report(refused)), want, "one: expected")
		expectEqual(t, expectedReason(x.reportAll(refused.withKey("many"))), want, "many: expected")
		x.configure(rule("moved away"))
		x.crash()
		expectEqual(t, expectedReason(x.reportAll(refused.withKey("many"))), want, "many, repeated: expected")
		expectEqual(t, x.reported(saying(a, "returned").because("moved away")), "returned")
	})
	bubble(t, "a long list", func(t *testing.T) {
		var reasons []string
		for n := range 100 {
			reasons = append(reasons, fmt.Sprintf("%02d %s", n, strings.Repeat("x", 50)))
		}
		x := begin(t, rule(reasons...))
		got := expectedReason(x.report(saying(x.sold(1), "returned").because("just so")))
		if !strings.Contains(got, `"00 x`) || !strings.HasSuffix(got, "x\" and 95 more") || len(got) > 400 {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	})
}
