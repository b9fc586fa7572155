package market

import "testing"

var everyStatus = []LeadStatus{
	StatusOpen, StatusAccepted, StatusUnmatched, StatusContacted, StatusQualified, StatusSold, StatusReturned, statusEnd, 255,
}

// Which report may follow which, as the contract has it.
func TestWhatALeadMayBecome(t *testing.T) {
	allowed := map[LeadStatus][]LeadStatus{
		StatusAccepted:  {StatusContacted, StatusQualified, StatusSold, StatusReturned},
		StatusContacted: {StatusQualified, StatusSold, StatusReturned},
		StatusQualified: {StatusSold, StatusReturned},
		StatusSold:      {StatusReturned},
	}
	for _, from := range everyStatus {
		may := map[LeadStatus]bool{}
		for _, to := range allowed[from] {
			may[to] = true
		}
		for _, to := range everyStatus {
			if got := from.CanReportChangeTo(to); got != may[to] {
				t.Errorf("from %s to %s: %t", from, to, got)
			}
		}
	}
}

func TestReportsAreRead(t *testing.T) {
	for name, want := range map[string]LeadStatus{
		"contacted": StatusContacted, "qualified": StatusQualified, "sold": StatusSold, "returned": StatusReturned,
		"ACCEPTED": 0, "UNMATCHED": 0, "OPEN": 0, "Sold": 0, "": 0, "unknown": 0, "sold ": 0,
	} {
		got, ok := ParseReportedStatus(name)
		if got != want || ok != (want != 0) {
			t.Errorf("%q is read as %s, %t", name, got, ok)
		}
		if ok && got.String() != name {
			t.Errorf("%q is written as %q", name, got)
		}
	}
}

// Every report tells the supplier something, and nothing else of a lead's way does.
func TestWhatASupplierIsToldOfAReport(t *testing.T) {
	want := map[LeadStatus]WebhookType{
		StatusContacted: WebhookContacted, StatusQualified: WebhookQualified, StatusSold: WebhookSold, StatusReturned: WebhookReturned,
	}
	for _, status := range everyStatus {
		if got := status.WebhookType(); got != want[status] {
			t.Errorf("%s: %s", status, got)
		}
		if _, reported := want[status]; status.IsReportedByBuyer() != reported {
			t.Errorf("%s: reported %t", status, status.IsReportedByBuyer())
		}
	}
}
