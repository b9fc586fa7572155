package market

import "testing"

// TestDeliveryNames pins numbers to names: the numbers are in logs, the names
// in metrics.
func TestDeliveryNames(t *testing.T) {
	verdicts := []struct {
		verdict PostVerdict
		number  uint8
		name    string
	}{
		{VerdictAccepted, 1, "accepted"},
		{VerdictRefused, 2, "refused"},
		{VerdictNotSent, 3, "unreached"},
		{VerdictUnknown, 4, "unknown"},
		{VerdictBusy, 5, "busy"},
		{verdictEnd, 6, "unknown_verdict"},
	}
	for _, row := range verdicts {
		if uint8(row.verdict) != row.number || row.verdict.String() != row.name {
			t.Errorf("%d %s, want %d %s", row.verdict, row.verdict, row.number, row.name)
		}
	}
	faults := []struct {
		fault  Fault
		number uint8
		name   string
	}{
		{FaultNone, 0, "none"},
		{FaultEndpoint, 1, "endpoint"},
		{FaultCredential, 2, "credential"},
		{FaultResolve, 3, "resolve"},
		{FaultForbidden, 4, "forbidden"},
		{FaultConnect, 5, "connect"},
		{FaultTLS, 6, "tls"},
		{FaultConnectionLimit, 7, "crowded"},
		{FaultTimeout, 8, "timeout"},
		{FaultBroken, 9, "broken"},
		{FaultTooLarge, 10, "too_large"},
		{FaultUnreadable, 11, "unreadable"},
		{FaultMalformed, 12, "malformed"},
		{faultEnd, 13, "unknown_fault"},
	}
	for _, row := range faults {
		if uint8(row.fault) != row.number || row.fault.String() != row.name {
			t.Errorf("%d %s, want %d %s", row.fault, row.fault, row.number, row.name)
		}
	}
}
