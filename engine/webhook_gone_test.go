package engine_test

import (
	"errors"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

var supplierName = &event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectSupplier, Ref: 1, ID: "acme"}}}

// webhookEngine returns an engine over a state that has a supplier and no lead, and a
// history that fails.
func webhookEngine(log engine.Log, failure error) *engine.Engine {
	s := state.New()
	s.Apply(1, 1, supplierName)
	return engine.New(engine.Options{
		State: s, Log: log, History: historyFunc(func(uint64) ([]byte, error) { return nil, failure }), Clock: bubbleClock{}, Entropy: func(p []byte) { clear(p) },
	})
}

// A webhook of an unknown lead becomes a dead letter.
func TestWebhookOfUnknownLead(t *testing.T) {
	w := state.QueuedWebhook{Lead: market.LeadID{7, 7}, Type: market.WebhookPosted, Supplier: 1, Cause: 77, Created: 1, Attempts: 2}
	bubble(t, "gone", func(t *testing.T) {
		log := newMemoryLog(t)
		defer log.close()
		log.entries = append(log.entries, entry{1, event.AppendRecord(nil, supplierName)})
		e := webhookEngine(log, engine.ErrGone)
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrGone)
		record, err := new(event.Decoder).Decode(log.durable()[1].data)
		if tried, ok := record.(*event.WebhookAttempted); err != nil || !ok || tried.Outcome != event.WebhookDead || tried.Lead != w.Lead || tried.Attempt != 3 {
			t.Errorf("logged is %+v", record)
		}
	})
	t.Run("the disk fails", func(t *testing.T) {
		e := webhookEngine(nil, errors.New("the disk is gone"))
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrUnavailable)
		e.Close()
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrUnavailable, "after Close")
	})
}
