package market

import "testing"

// The numbers are in the log, and the names are the contract's.
func TestHooksKeepTheirNumbersAndNames(t *testing.T) {
	for number, want := range []string{
		"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold", "lead.returned", "lead.unmatched", "lead.post_failed",
	} {
		if got := WebhookType(number).String(); got != want {
			t.Errorf("hook %d is called %q, want %q", number, got, want)
		}
	}
	if WebhookTypeCount != 8 {
		t.Errorf("%d types", WebhookTypeCount)
	}
	for _, number := range []WebhookType{webhookTypeEnd, 255} {
		if got := number.String(); got != "unknown_hook" {
			t.Errorf("hook %d is called %q", number, got)
		}
	}
}
