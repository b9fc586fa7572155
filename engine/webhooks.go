package engine

import (
	"errors"
	"fmt"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/webhook"
)

// webhookResources is the engine's part of sending webhooks (notifications to suppliers). The outbox,
// which is part of state.State, has the webhooks that are due, and events record the attempts. A
// sender, outside this package, connects them:
//
//	w := state.ClaimDueWebhook(supplier, now)  w is in flight: no other sender gets it
//	m := engine.BuildWebhookMessageOrDeadLetter(&w)        the request to send
//	engine.RecordWebhookAttempt(w, result)     an event records the result; w is not in flight
//
// After an error of BuildWebhookMessageOrDeadLetter or RecordWebhookAttempt the sender calls
// state.UnclaimWebhook, which ignores a webhook that is not in flight any more. It waits a moment
// before the next webhook, because the disk or the log has failed or the exchange stops.
type webhookResources struct {
	cache    webhook.PayloadCache
	reads    chan struct{} // a slot for each payload that is built from the log
	observer WebhookObserver

	// switching serializes changes of an outbox by an operator and by switchOffWebhooksIfFailing.
	// The outbox ignores an attempt that ends too late.
	switching sync.Mutex
}

// maxPayloadReads limits the simultaneous log reads that build webhook payloads. Sales read the
// log too, and should not wait behind many reads of webhooks.
const maxPayloadReads = 2

// WebhookObserver receives the results of webhook attempts, for metrics and log lines. The engine
// uses it if Options.Observer has its methods too.
type WebhookObserver interface {
	// WebhookAttempted reports a recorded attempt: delivered, failed or dead.
	WebhookAttempted(supplier string, outcome event.WebhookOutcomeOrDecision, result *market.WebhookAttemptResult)
	// LogWebhooksSwitchedOffAfterFailures reports a supplier whose endpoint has failed for days. It gets no
	// webhooks until an operator switches them on.
	LogWebhooksSwitchedOffAfterFailures(supplier string)
}

type discardWebhookObserver struct{}

func (discardWebhookObserver) WebhookAttempted(string, event.WebhookOutcomeOrDecision, *market.WebhookAttemptResult) {
}

func (discardWebhookObserver) LogWebhooksSwitchedOffAfterFailures(string) {}

// WebhookMessage is the content and the receiver of one webhook. The sender makes an HTTP request
// of it.
type WebhookMessage struct {
	ID       string // evt_…; the same at every attempt, like the body
	Body     []byte // read only
	Supplier market.PermanentNumber
	Endpoint market.OutboundEndpoint // of the current catalog; the zero value if the supplier has none
}

// BuildWebhookMessageOrDeadLetter returns the request for a queued webhook, which the sender has claimed from
// the outbox. If neither the log's history nor memory knows the lead any more, it makes the webhook
// a dead letter and returns ErrGone. Other errors are ErrUnavailable or the log's.
func (e *Engine) BuildWebhookMessageOrDeadLetter(queued *state.OutboxWebhook) (WebhookMessage, error) {
	payload, found, err := e.loadPayloadFromCacheOrLog(queued)
	if err != nil {
		return WebhookMessage{}, err
	}
	if !found {
		e.opt.Observer.ReportFault("a webhook became a dead letter: its log record is older than the log's history and memory has no such lead",
			fmt.Errorf("cannot build webhook %s of lead %s from log record %d, which caused it: %w", queued.Type, queued.Lead, queued.Cause, ErrGone))
		if err := e.commitAttemptAndScheduleNext(queued, event.WebhookDead, &market.WebhookAttemptResult{}); err != nil {
			return WebhookMessage{}, err
		}
		return WebhookMessage{}, ErrGone
	}
	m := WebhookMessage{
		ID: market.ComputeWebhookID(queued.Lead, queued.Type, queued.Created).String(), Supplier: queued.Supplier,
		Body: webhook.AppendWebhookBody(make([]byte, 0, 512), e.state, queued, &payload),
	}
	if to := e.webhookEndpointOrNil(queued.Supplier); to != nil {
		m.Endpoint = *to
	}
	return m, nil
}

// loadPayloadFromCacheOrLog returns the payload of a queued webhook from the cache, or else from
// the log. found is false if neither the log's history nor memory knows the lead any more. The
// error is ErrUnavailable.
func (e *Engine) loadPayloadFromCacheOrLog(queued *state.OutboxWebhook) (payload webhook.Payload, found bool, err error) {
	if p, ok := e.webhooks.cache.FindPayload(queued.Lead, queued.Type); ok {
		return p, true, nil
	}
	select {
	case e.webhooks.reads <- struct{}{}:
		defer func() { <-e.webhooks.reads }()
	case <-e.stop:
		return payload, false, ErrUnavailable
	}
	payload, found, err = webhook.LoadPayload(e.state, &e.log, queued, e.opt.Clock.Now()+int64(e.opt.Ceiling))
	if err != nil && !errors.Is(err, ErrUnavailable) {
		err = e.reportIfColdRowUnreadable(err)
	}
	return payload, found, err
}

// RecordWebhookAttempt commits the result of an attempt to send webhook w. A failed webhook gets
// its next attempt by the schedule, or becomes a dead letter after the last one. An endpoint that
// has failed for days is switched off. The error is the log's.
func (e *Engine) RecordWebhookAttempt(w state.OutboxWebhook, result market.WebhookAttemptResult) error {
	outcome := event.WebhookDelivered
	if !result.Delivered {
		outcome = event.WebhookFailed
	}
	if err := e.commitAttemptAndScheduleNext(&w, outcome, &result); err != nil {
		return err
	}
	if result.Delivered {
		return nil
	}
	return e.switchOffWebhooksIfFailing(w.Supplier)
}

// commitAttemptAndScheduleNext commits an attempt to send a queued webhook, and the time of the next
// one. If the last attempt of the schedule failed, the webhook becomes a dead letter. WebhookDead as
// the outcome makes it a dead letter without an attempt, because its payload cannot be built.
func (e *Engine) commitAttemptAndScheduleNext(queued *state.OutboxWebhook, outcome event.WebhookOutcomeOrDecision, result *market.WebhookAttemptResult) error {
	now := e.opt.Clock.Now()
	record := &event.WebhookAttemptedOrDecided{
		Lead: queued.Lead, Type: queued.Type, Supplier: queued.Supplier, Attempt: queued.Attempts + 1, Outcome: outcome,
		At: now, Status: uint32(max(0, result.Status)), Fault: result.Fault,
	}
	if outcome == event.WebhookFailed {
		var again bool
		if record.Due, again = webhook.NextAttemptTime(record.Attempt, now, e.opt.Entropy); !again {
			record.Outcome = event.WebhookDead
		}
	}
	if err := e.commitRetryingFullQueue(record, nil); err != nil {
		return err
	}
	e.webhooks.observer.WebhookAttempted(e.state.NameOf(event.ObjectSupplier, queued.Supplier), record.Outcome, result)
	return nil
}

// switchOffWebhooksIfFailing switches a supplier's webhooks off if its endpoint has failed for five
// days. It checks again under the lock, because an operator may have switched them meanwhile.
func (e *Engine) switchOffWebhooksIfFailing(supplier market.PermanentNumber) error {
	shouldSwitchOff := func() bool {
		return webhook.ShouldSwitchOffWebhooks(e.state.OutboxStatus(supplier), e.opt.Clock.Now())
	}
	if !shouldSwitchOff() {
		return nil
	}
	e.webhooks.switching.Lock()
	defer e.webhooks.switching.Unlock()
	if !shouldSwitchOff() {
		return nil
	}
	err := e.commitRetryingFullQueue(&event.SupplierWebhooksTurnedOnOrOff{Supplier: supplier, Off: true, At: e.opt.Clock.Now()}, nil)
	if err == nil {
		e.webhooks.observer.LogWebhooksSwitchedOffAfterFailures(e.state.NameOf(event.ObjectSupplier, supplier))
	}
	return err
}

// webhookEndpointOrNil returns a supplier's webhook endpoint in the active catalog, or nil if it has
// none.
func (e *Engine) webhookEndpointOrNil(supplier market.PermanentNumber) *market.OutboundEndpoint {
	if p := e.plan.Load(); p != nil {
		return p.webhooks[supplier]
	}
	return nil
}

// setDecisionWebhookAndCachePayload writes the webhook event that the lead's decision triggers into the
// record, and its payload into the cache. It has no effect if the supplier has no webhooks.
func (in *leadSaleWorkspace) setDecisionWebhookAndCachePayload() {
	if in.plan.webhooks[in.req.Supplier.Ref] == nil {
		return
	}
	in.record.Webhook = webhook.WebhookOfDecisionOrSettlement(&in.record, false)
	in.engine.webhooks.cache.AddPayloadIfMissing(in.id, in.record.Webhook, webhook.NewPayloadOfDecision(&in.record))
}

// setSettlementWebhookAndCachePayload writes the webhook event that the outcome of a post triggers into
// the record. It caches the webhook's payload only if the cache has the lead's data from its decision.
// supplierWasAnsweredAccepted reports whether the supplier has already received the answer ACCEPTED.
// setSettlementWebhookAndCachePayload has no effect if the supplier has no webhooks.
func (e *Engine) setSettlementWebhookAndCachePayload(record *event.PostSettled, supplierWasAnsweredAccepted bool) {
	if e.webhookEndpointOrNil(record.Supplier) == nil {
		return
	}
	record.Webhook = webhook.WebhookOfDecisionOrSettlement(record, supplierWasAnsweredAccepted)
	if record.Webhook == market.WebhookNone {
		return
	}
	if p, ok := e.webhooks.cache.FindPayload(record.Lead, market.WebhookNone); ok {
		p.SetOutcomeOfSettlement(record)
		e.webhooks.cache.AddPayloadIfMissing(record.Lead, record.Webhook, p)
	}
}
