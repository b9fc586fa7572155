package market

import "testing"

// The numbers are in the log, and the names are the contract's.
func TestHooksKeepTheirNumbersAndNames(t *testing.T) {
	for number, want := range []string{
		"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold", "lead.returned", "lead.unmatched", "lead.post_failed",
	} {
		if got := HookType(number).String(); got != want {
			t.Errorf("hook %d is called %q, want %q", number, got, want)
		}
	}
	if HookTypes != 8 {
		t.Errorf("%d types", HookTypes)
	}
	for _, number := range []HookType{hookTypeEnd, 255} {
		if got := number.String(); got != "unknown_hook" {
			t.Errorf("hook %d is called %q", number, got)
		}
	}
}
