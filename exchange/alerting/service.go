package alerting

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pingpost/engine"
	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/outbound/mail"
	"pingpost/outbound/notify"
	"pingpost/server/admin/alerts"
)

// evaluationPause is the time between two evaluations of the rules.
const evaluationPause = 15 * time.Second

// Options of a Service. All fields are required, except ConsoleURL.
type Options struct {
	Sources
	Engine    *engine.Engine
	Transport Transport
	Now       func() int64 // the exchange's time, Unix nanoseconds
	Seal      func(secretName, value string) []byte
	Open      func(secretName string, sealed []byte) (value string, err error)
	Tenant    string // shown in notifications
	// ConsoleURL is the address of the console, without a slash at its end. Links of notifications begin
	// with it. Empty: no address is known, and the notifications have no links.
	ConsoleURL string
	Logger     *slog.Logger
}

// Transport makes one attempt to send a notification: notify.Transport.
type Transport interface {
	Send(ctx context.Context, to *notify.Destination, message *notify.Message) error
}

// Service evaluates the rules and sends the notifications of one exchange. The state has the alerts
// and the unsent notifications; the service can end at any time and continue after a restart.
type Service struct {
	options Options
	table   *alert.Table
	queue   *notify.Queue
	ctx     context.Context //nolint:containedctx // ends at Close
	stop    context.CancelFunc
	ended   chan struct{} // closed after the last evaluation; nil before Start

	changing sync.Mutex    // one change of the settings at a time
	testing  chan struct{} // has an element for each test of a channel that runs

	// evaluating is held during an evaluation, which may wait for the report, and guards the next fields.
	// No request takes it.
	evaluating sync.Mutex
	evaluator  alert.Evaluator
	measurer   measurer
	queued     uint64 // number of the newest change whose notifications are in the queue

	mu   sync.Mutex // guards the next field, for an instant at a time
	last evaluation
}

// evaluation is the result of an evaluation. Its list and map do not change.
type evaluation struct {
	pending     []alert.PendingAlert
	values      map[alert.Key]alert.ValueAtLastEvaluation
	atUnixNanos int64
}

// maxTests is the number of tests of channels at once.
const maxTests = 4

// New returns a service that does nothing yet.
func New(options Options) *Service {
	s := &Service{
		options: options, table: options.State.Alerts(), testing: make(chan struct{}, maxTests),
		measurer: measurer{sources: options.Sources, reports: throttledReportCache{ask: askReport}},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.queue = notify.NewQueue(notify.QueueOptions{
		Send: s.sendItem, Done: s.recordOutcome, Sleep: sleep,
		Now: func() time.Time { return time.Unix(0, options.Now()) },
	})
	return s
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Start queues the notifications that an earlier run did not send, and evaluates the rules
// regularly until Close.
func (s *Service) Start() {
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		for s.ctx.Err() == nil {
			s.Evaluate(s.ctx, s.options.Now())
			sleep(s.ctx, evaluationPause)
		}
	}()
}

// Close ends the evaluations and the sending. It cancels an evaluation that waits for the report, and
// tests of channels. The engine and the log must still be open.
func (s *Service) Close() {
	if s.stop(); s.ended != nil {
		<-s.ended
	}
	s.queue.Close()
}

// Evaluate measures all rules, records the changes, and queues their notifications. If ctx ends
// meanwhile, it records no change. Without an active configuration it only queues unsent notifications.
// A panic is logged, because alerts must not end the exchange.
func (s *Service) Evaluate(ctx context.Context, nowUnixNanos int64) {
	defer func() {
		if cause := recover(); cause != nil {
			s.options.Logger.Error("the alert rules were not evaluated, because the evaluation failed (panic); the next one follows", "cause", cause)
		}
	}()
	s.evaluating.Lock()
	defer s.evaluating.Unlock()
	if s.measurer.beginEvaluation(nowUnixNanos) {
		changes := s.evaluator.Evaluate(s.table.Settings(), s.table.FiringAlerts(), func(rule *alert.Rule) ([]alert.Sample, bool) {
			return s.measurer.measure(ctx, rule)
		}, nowUnixNanos)
		if ctx.Err() != nil {
			return
		}
		s.storeLastEvaluation(evaluation{s.evaluator.PendingAlerts(), s.evaluator.Values(), nowUnixNanos})
		s.recordChangesAndQueue(changes)
	}
	s.queueUnsent()
}

// storeLastEvaluation shows an evaluation to operators.
func (s *Service) storeLastEvaluation(e evaluation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = e
}

// recordChangesAndQueue records the changes of alerts, up to the first that the log does not accept,
// and queues the notifications of each at once. So a full queue drops the surplus, and records that,
// before the history grows. The caller holds s.evaluating.
func (s *Service) recordChangesAndQueue(changes []*event.AlertOrNotificationChanged) {
	for _, change := range changes {
		if s.ctx.Err() != nil {
			return // the evaluation after the next start finds the other changes again
		}
		if err := s.options.Engine.RecordAlertOrNotificationChange(change); err != nil {
			s.options.Logger.Warn("a change of an alert was not recorded; the next evaluation tries again", "rule", change.Rule, "subject", change.Subject, "error", err)
			return
		}
		s.options.Logger.Info("alert", "transition", change.Transition.String(), "rule", change.Rule, "subject", change.Subject, "value", alert.Quantity(change.Value).String())
		s.queueUnsent()
	}
}

// queueUnsent queues the notifications that are not in the queue. The caller holds s.evaluating.
func (s *Service) queueUnsent() {
	for _, change := range s.table.ChangesWithUnfinishedNotifications(s.queued) {
		if s.ctx.Err() != nil {
			return // the next start queues the others
		}
		for _, n := range change.Notifications {
			if n.Outcome == 0 {
				s.queue.Add(notify.Item{ID: change.Number, Channel: n.Channel, Resolved: change.Transition == event.AlertResolved, Due: time.Unix(0, change.At)})
			}
		}
		s.queued = change.Number
	}
}

// recordOutcome records how a notification ended. If that fails, a restart sends it again.
func (s *Service) recordOutcome(item notify.Item, outcome notify.FinalOutcome, cause error) {
	record := &event.AlertOrNotificationChanged{Transition: event.NotificationSent, Of: item.ID, Channels: []string{item.Channel}, At: s.options.Now()}
	switch outcome {
	case notify.Failed:
		record.Transition = event.NotificationFailed
	case notify.Dropped:
		record.Transition = event.NotificationDropped
	case notify.Sent:
	}
	if cause != nil {
		record.Error = shortError(cause)
	}
	if change, ok := s.table.FindChange(item.ID); ok {
		record.Rule, record.Subject = change.Rule, change.Subject
	}
	if err := s.options.Engine.RecordAlertOrNotificationChange(record); err != nil {
		s.options.Logger.Warn("the outcome of an alert's notification was not recorded; the notification is sent again after a restart", "channel", item.Channel, "error", err)
	}
	if outcome != notify.Sent || cause != nil {
		s.options.Logger.Warn("a notification of an alert did not reach all recipients", "channel", item.Channel, "rule", record.Rule, "subject", record.Subject,
			"outcome", record.Transition.String(), "error", errorTextWithMaskedAddresses(cause))
	}
}

// errorTextWithMaskedAddresses returns an error's text without e-mail addresses, which the program's
// log must not have.
func errorTextWithMaskedAddresses(err error) string {
	if err == nil {
		return ""
	}
	return alerts.RemoveUnprintableAndCut(mail.MaskAddresses(err.Error()), maxErrorLength)
}

// maxErrorLength limits the texts of errors, which may contain a server's answer.
const maxErrorLength = 300

func shortError(err error) string { return alerts.RemoveUnprintableAndCut(err.Error(), maxErrorLength) }

// sendItem makes one attempt to send a queued notification.
func (s *Service) sendItem(ctx context.Context, item notify.Item) error {
	settings := s.table.Settings()
	channel := settings.FindChannel(item.Channel)
	change, ok := s.table.FindChange(item.ID)
	if channel == nil || channel.Off || !ok {
		return notify.ErrNoChannel
	}
	to, err := s.destination(channel)
	if err != nil {
		return err
	}
	if to.Email != nil {
		to.Email.To = slices.DeleteFunc(slices.Clone(to.Email.To), func(address string) bool { return slices.Contains(item.Accepted, address) })
		if len(to.Email.To) == 0 && len(item.Accepted) > 0 { // the settings changed after the first attempt
			return nil
		}
	}
	return s.options.Transport.Send(ctx, to, s.newMessage(settings.FindRule(change.Rule), &change))
}

var errTooManyTests = errors.New("too many tests of channels run; try again in a minute")

// testTimeout limits a test of a channel.
const testTimeout = 20 * time.Second

// Test sends a test notification to a channel and waits for the result. A success ends the channel's
// pause after failures.
func (s *Service) Test(channel *alert.Channel) error {
	select {
	case s.testing <- struct{}{}:
		defer func() { <-s.testing }()
	default:
		return errTooManyTests
	}
	to, err := s.destination(channel)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, testTimeout)
	defer cancel()
	if err := s.options.Transport.Send(ctx, to, s.newTestMessage()); err != nil {
		return err
	}
	s.queue.Resume(channel.ID)
	return nil
}

// AlertTable returns the alerts in the state.
func (s *Service) AlertTable() *alert.Table { return s.table }

// Now returns the exchange's time in Unix nanoseconds.
func (s *Service) Now() int64 { return s.options.Now() }

// IsConfiguredSubject reports whether the active configuration has a buyer, campaign or supplier of this id.
func (s *Service) IsConfiguredSubject(subjectType alert.SubjectKind, id string) (known bool) {
	catalog := s.options.Catalog()
	if catalog == nil {
		return false
	}
	switch subjectType {
	case alert.SubjectBuyer:
		_, known = catalog.Buyers[market.BuyerID(id)]
	case alert.SubjectCampaign:
		_, known = catalog.Campaigns[market.CampaignID(id)]
	case alert.SubjectSupplier:
		_, known = catalog.Suppliers[market.SupplierID(id)]
	case alert.SubjectExchange: // has no id
	}
	return known
}

// Seal encrypts a channel's secret.
func (s *Service) Seal(secretName, value string) []byte { return s.options.Seal(secretName, value) }

// ChangeSettings applies change to a copy of the settings, and records the result in the name of an
// operator. An error of change is returned, and then the settings stay.
func (s *Service) ChangeSettings(by string, change func(*alert.Settings) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	settings := s.table.Settings().Clone()
	if err := change(settings); err != nil {
		return err
	}
	return s.options.Engine.AsOperator(by).SetAlertSettings(settings.Encode())
}

// LastEvaluation returns the alerts that are pending, the function that returns the current values, and
// the time of the last evaluation (zero: none). It does not wait for an evaluation that runs.
func (s *Service) LastEvaluation() (pending []alert.PendingAlert, valueOf func(alert.Key) (alert.ValueAtLastEvaluation, bool), atUnixNanos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last
	return last.pending, func(key alert.Key) (alert.ValueAtLastEvaluation, bool) {
		value, ok := last.values[key]
		return value, ok
	}, last.atUnixNanos
}

// HealthByChannel returns the state of each channel that had a notification since the start.
func (s *Service) HealthByChannel() map[string]alerts.ChannelHealth {
	all := make(map[string]alerts.ChannelHealth)
	for id, h := range s.queue.HealthByChannel() {
		all[id] = alerts.NewChannelHealth(alerts.ChannelCounts{Queued: h.Queued, Sent: h.Sent, Failed: h.Failed, Dropped: h.Dropped},
			h.LastSuccess, h.FailingSince, h.Attempting, alerts.RemoveUnprintableAndCut(h.LastError, maxErrorLength))
	}
	return all
}
