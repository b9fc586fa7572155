//go:build !race

package state

import (
	"runtime"
	"testing"

	"pingpost/engine/market"
)

// A million pending webhooks cost at most 200 bytes of memory each, with their indexes.
func TestAllocatedPerPendingWebhook(t *testing.T) {
	const count = 1_000_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := New()
	before := heap()
	for n := range uint64(count) {
		s.enqueueWebhook(n+1, monday, 1, scatteredID(n), market.WebhookPosted)
	}
	each := float64(heap()-before) / count
	if got := s.OutboxStatus(1).Pending; got != count {
		t.Fatalf("%d pending webhooks", got)
	}
	t.Logf("%.0f bytes per webhook", each)
	if each > 200 {
		t.Errorf("%.0f bytes per webhook, want at most 200", each)
	}
}
