package market

import "testing"

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
