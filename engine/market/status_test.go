package market

import "testing"

var allStatuses = []LeadStatus{
	StatusOpen, StatusAccepted, StatusUnmatched, StatusContacted, StatusQualified, StatusSold, StatusReturned, statusEnd, 255,
}

// TestLeadStatusTransitions checks the contract's table of reports.
func TestLeadStatusTransitions(t *testing.T) {
	allowed := map[LeadStatus][]LeadStatus{
		StatusAccepted:  {StatusContacted, StatusQualified, StatusSold, StatusReturned},
		StatusContacted: {StatusQualified, StatusSold, StatusReturned},
		StatusQualified: {StatusSold, StatusReturned},
		StatusSold:      {StatusReturned},
	}
	for _, from := range allStatuses {
		want := map[LeadStatus]bool{}
		for _, to := range allowed[from] {
			want[to] = true
		}
		for _, to := range allStatuses {
			if got := from.CanReportChangeTo(to); got != want[to] {
				t.Errorf("report of %[2]s after %[1]s is allowed: %[3]t", from, to, got)
			}
		}
	}
}

func TestParseReportedStatus(t *testing.T) {
	for name, want := range map[string]LeadStatus{
		"contacted": StatusContacted, "qualified": StatusQualified, "sold": StatusSold, "returned": StatusReturned,
		"ACCEPTED": 0, "UNMATCHED": 0, "OPEN": 0, "Sold": 0, "": 0, "unknown": 0, "sold ": 0,
	} {
		got, ok := ParseReportedStatus(name)
		if got != want || ok != (want != 0) {
			t.Errorf("%q is parsed as %s, %t", name, got, ok)
		}
		if ok && got.String() != name {
			t.Errorf("%q is written as %q", name, got)
		}
	}
}

// TestReportedStatusWebhooks: a buyer's reports trigger a webhook; other statuses do not.
func TestReportedStatusWebhooks(t *testing.T) {
	want := map[LeadStatus]WebhookType{
		StatusContacted: WebhookContacted, StatusQualified: WebhookQualified, StatusSold: WebhookSold, StatusReturned: WebhookReturned,
	}
	for _, status := range allStatuses {
		if got := status.WebhookTypeOfReport(); got != want[status] {
			t.Errorf("webhook of status %s is %s, want %s", status, got, want[status])
		}
		if _, reported := want[status]; status.IsReportedByBuyer() != reported {
			t.Errorf("%s: IsReportedByBuyer is not %t", status, status.IsReportedByBuyer())
		}
	}
}
