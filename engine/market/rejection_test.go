package market

import "testing"

// Each objection to a report names a member and what is expected of it; each to
// where a lead stands is a sentence of its own. No number has two meanings.
func TestObjectionsAreTold(t *testing.T) {
	told := map[string]BuyerReportRejection{}
	for o := RejectionNotObject; o <= RejectionReturnShare; o++ {
		if o == invalidReportEnd {
			o = RejectionDeliveryPending
		}
		fault, ofReport := o.FieldError()
		if ofReport != (o < invalidReportEnd) || ofReport && (fault.Field == "" || fault.Code == "" || fault.Expected == "") {
			t.Errorf("objection %d: %+v, %v", o, fault, ofReport)
		}
		text := o.String() + fault.Code
		if first, twice := told[text]; twice || text == "unknown rejection" {
			t.Errorf("objections %d and %d are told alike: %s", first, o, text)
		}
		told[text] = o
	}
	for _, none := range []BuyerReportRejection{RejectionNone, invalidReportEnd, RejectionReturnShare + 1} {
		if _, ok := none.FieldError(); ok || none.String() != "unknown rejection" {
			t.Errorf("%d is told as %s", none, none)
		}
	}
}
