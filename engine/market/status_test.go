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

// TestBuyerReportRejectionTexts: a rejection of an invalid report names a member and the expected
// value; a rejection by the lead's state has a text. All texts differ.
func TestBuyerReportRejectionTexts(t *testing.T) {
	seen := map[string]StatusReportRejection{}
	for o := RejectionNotObject; o <= RejectionReturnShare; o++ {
		if o == invalidReportEnd {
			o = RejectionDeliveryPending
		}
		fieldError, isInvalid := o.FieldError()
		if isInvalid != (o < invalidReportEnd) || isInvalid && (fieldError.Field == "" || fieldError.Code == "" || fieldError.Expected == "") {
			t.Errorf("rejection %d: %+v, %v", o, fieldError, isInvalid)
		}
		text := o.String() + fieldError.Code
		if first, found := seen[text]; found || text == "unknown rejection" {
			t.Errorf("rejections %d and %d have the same text: %s", first, o, text)
		}
		seen[text] = o
	}
	for _, invalid := range []StatusReportRejection{RejectionNone, invalidReportEnd, RejectionReturnShare + 1} {
		if _, ok := invalid.FieldError(); ok || invalid.String() != "unknown rejection" {
			t.Errorf("invalid rejection %d has the text %s", invalid, invalid)
		}
	}
}
