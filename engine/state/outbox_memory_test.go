//go:build !race

package state

import (
	"runtime"
	"testing"

	"pingpost/engine/market"
)

// A million pending hooks cost at most 200 bytes of memory each, with all by which
// they are found.
func TestAllocatedByAMillionHooks(t *testing.T) {
	const many = 1_000_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := New()
	before := heap()
	for n := range uint64(many) {
		s.enqueueWebhook(n+1, monday, 1, spread(n), market.WebhookPosted)
	}
	each := float64(heap()-before) / many
	if got := s.OutboxStatus(1).Pending; got != many {
		t.Fatalf("%d hooks", got)
	}
	t.Logf("%.0f bytes a hook", each)
	if each > 200 {
		t.Errorf("%.0f bytes a hook, at most 200", each)
	}
}
