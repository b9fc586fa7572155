package event

import (
	"strings"
	"testing"

	"pingpost/engine/market"
)

// The largest report fits an entry of the log: a thousand leads come back, each
// with the longest reason and with something for a dozen caps.
func TestTheLargestReportFitsAnEntry(t *testing.T) {
	const entry = 1 << 20
	longest := [16]byte{0: 0xff, 15: 0xff}
	fact := &LeadStatusesChanged{
		Request: longest, Buyer: 1 << 31, At: 1 << 60,
		Idempotency: RequestIdempotencyKey{Key: longest, Fingerprint: 1 << 63, ExpiresAt: 1 << 60},
	}
	for range 1000 {
		back := ResourcesFreedByReturn{Campaign: 1 << 31, Credit: 1e12, Reverse: 1e12, Currency: market.Currency{'U', 'S', 'D'}, Month: 1 << 60}
		for range 12 {
			back.Charges = append(back.Charges, CapCharge{Cap: 1 << 31, Window: 1 << 60, Amount: 1e12})
		}
		fact.Changes = append(fact.Changes, LeadStatusChange{
			Lead: longest, Result: ChangeDone, From: market.StatusSold, To: market.StatusReturned,
			Reason: strings.Repeat("r", 256), Occurred: 1 << 60, Return: back,
			Webhook: market.WebhookReturned, Supplier: 1 << 31, WasPending: true,
		})
	}
	if size := len(AppendRecord(nil, fact)); size > entry {
		t.Errorf("%d bytes, and an entry has %d", size, entry)
	} else {
		t.Logf("%d bytes", size)
	}
}
