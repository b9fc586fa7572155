package engine

import (
	"sync"

	"pingpost/engine/market"
)

// An event is told at once, and nearly always it is heard. So what it says is kept
// from the decision that caused it until then, and the log is read for those alone
// that are tried again much later, or after a restart.
//
// It is a cache and decides nothing: what is not in it is read back, and comes to
// the same bytes. What is put in goes first in, first out; a fact that never
// became durable leaves a piece that nobody asks for.
type fresh struct {
	mu    sync.Mutex
	tales map[tellable]tale
	queue []tellable // in the order they came
	texts int        // bytes of the tales' texts
}

// tellable names an event, or with WebhookNone what is known of a lead whose event is
// still to come.
type tellable struct {
	lead market.LeadID
	what market.WebhookType
}

// What the cache may hold: a lead's texts are a few dozen bytes, but they are a
// seller's.
const (
	maxFresh      = 20_000
	maxFreshTexts = 4 << 20
)

func (f *fresh) keep(lead market.LeadID, what market.WebhookType, t tale) {
	key := tellable{lead, what}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tales == nil {
		f.tales = make(map[tellable]tale)
	}
	if _, twice := f.tales[key]; twice {
		return
	}
	f.texts += t.texts()
	for len(f.queue) > 0 && (len(f.queue) >= maxFresh || f.texts > maxFreshTexts) {
		oldest := f.queue[0]
		f.queue = f.queue[1:]
		f.texts -= f.tales[oldest].texts()
		delete(f.tales, oldest)
	}
	f.tales[key], f.queue = t, append(f.queue, key)
}

func (f *fresh) find(lead market.LeadID, what market.WebhookType) (tale, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.tales[tellable{lead, what}]
	return t, ok
}

func (t tale) texts() int { return len(t.uuid) + len(t.auction) + len(t.reason) }
