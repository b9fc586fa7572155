package market

import (
	"testing"

	"pgregory.net/rapid"
)

func TestReasonsOfReturns(t *testing.T) {
	listed := ReturnRule{Reasons: map[string]struct{}{"wrong number": {}}}
	for _, c := range []struct {
		reason      string
		any, listed bool
	}{
		{"wrong number", true, true}, {"Wrong number", true, false}, {"sold twice", true, false}, {"", false, false},
	} {
		if got := new(ReturnRule).Takes(c.reason); got != c.any {
			t.Errorf("any reason: %q is taken: %v", c.reason, got)
		}
		if got := listed.Takes(c.reason); got != c.listed {
			t.Errorf("one reason: %q is taken: %v", c.reason, got)
		}
	}
}

// Whatever is returned one after the other, the share is never exceeded, and the
// one that is refused would have exceeded it.
func TestShareOfReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := ReturnRule{MaxShare: Share(rapid.Int64Range(0, int64(WholeShare)).Draw(t, "share"))}
		sold := rapid.Int64Range(0, 500).Draw(t, "sold")
		returned := int64(0)
		for rule.Fits(returned, sold) {
			returned++
		}
		within := func(n int64) bool { return n*int64(WholeShare) <= int64(rule.MaxShare)*sold }
		if !within(returned) || within(returned+1) {
			t.Errorf("of %d sold %d may be returned, at a share of %d millionths", sold, returned, rule.MaxShare)
		}
	})
}
