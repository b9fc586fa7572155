package reportmail

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/savedreport"
	"pingpost/internal/timer"
	"pingpost/outbound/mail"
	"pingpost/outbound/notify"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/savedreports"
)

// Options of a Service, which sends saved reports by e-mail. All fields are required, except Sleep.
type Options struct {
	Table *savedreport.Table
	// SetReport records a changed or removed (empty document) report in the name of an operator.
	SetReport func(by, id string, document []byte) error
	// RecordMail records how an e-mail ended.
	RecordMail func(*event.ReportMailEnded) error
	// Compose returns the e-mail of a report at a moment, without sender and recipients.
	Compose func(ctx context.Context, entry *savedreport.Entry, momentNanos int64) (*mail.Message, error)
	// Sender returns the SMTP server and the sender.
	Sender func() (*notify.EmailDestination, error)
	// ChannelID returns the id of the channel of alerts with the SMTP server; empty: there is none.
	ChannelID func() string
	// Send makes one attempt to send a message: mail.Client.Send.
	Send   func(ctx context.Context, server mail.Server, message *mail.Message) error
	Now    func() int64 // the exchange's time, Unix nanoseconds
	Zone   *time.Location
	Logger *slog.Logger

	Sleep func(ctx context.Context, d time.Duration) // between attempts; nil: in real time
}

const (
	// longestSleep is the greatest time between two looks at the schedules: the exchange's clock may
	// be set forward, and operators change schedules.
	longestSleep = 15 * time.Second
	// attemptTimeout limits an attempt: the wait for other reports, the report's query and the e-mail.
	attemptTimeout = 2 * time.Minute
	// requestTimeout limits an e-mail that an operator requests and waits for.
	requestTimeout = 45 * time.Second
	// maxAttempts is the number of attempts at once. One of them computes its report.
	maxAttempts = 4
)

// Service sends the saved reports of one exchange. The state has the reports and the moments that were
// sent; the service can end at any time and continue after a restart.
type Service struct {
	options Options
	queue   *notify.Queue
	stop    context.CancelFunc
	ctx     context.Context //nolint:containedctx // ends at Close
	ended   chan struct{}

	changing  sync.Mutex    // one change of the reports at a time
	attempts  chan struct{} // has an element for each attempt that runs
	computing chan struct{} // has an element while a report is computed

	mu     sync.Mutex       // guards the following field
	queued map[string]int64 // latest moment of each report that was added to the queue
}

var _ savedreports.Service = (*Service)(nil)

// New returns a service that does nothing yet.
func New(options Options) *Service {
	if options.Sleep == nil {
		options.Sleep = sleep
	}
	s := &Service{
		options: options, attempts: make(chan struct{}, maxAttempts), computing: make(chan struct{}, 1), queued: make(map[string]int64),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.queue = notify.NewQueue(notify.QueueOptions{
		Send: s.sendItem, Done: s.recordOutcome, Sleep: options.Sleep, Timeout: attemptTimeout,
		Now: func() time.Time { return time.Unix(0, options.Now()) },
	})
	return s
}

func sleep(ctx context.Context, d time.Duration) {
	timer.WaitUntil(ctx, time.Now().Add(d))
}

// Start sends the reports at the moments of their schedules until Close.
func (s *Service) Start() {
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		for s.ctx.Err() == nil {
			now := s.options.Now()
			s.options.Sleep(s.ctx, min(time.Duration(s.QueueDueMails(now)-now), longestSleep))
		}
	}()
}

// Close ends the sending, also of a report whose SMTP server hangs. The engine and the log must still
// be open. The next start sends the moments without a result.
func (s *Service) Close() {
	s.stop()
	if s.ended != nil {
		<-s.ended
	}
	s.queue.Close()
}

// QueueDueMails queues the e-mails of all reports that are due, and returns the next moment of a
// schedule, at most an hour ahead. The queue of each report is its own, so a report that fails delays
// no other one.
func (s *Service) QueueDueMails(nowUnixNanos int64) (nextNanos int64) {
	nextNanos = nowUnixNanos + int64(time.Hour)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range s.options.Table.All() {
		if entry.Schedule == nil {
			continue
		}
		nextNanos = min(nextNanos, entry.Schedule.NextAfter(nowUnixNanos, s.options.Zone))
		moment, isDue := entry.Due(nowUnixNanos, s.options.Zone)
		if isDue && s.queued[entry.ID] != moment {
			s.queued[entry.ID] = moment
			s.queue.Add(notify.Item{ID: uint64(moment), Channel: entry.ID, Due: time.Unix(0, nowUnixNanos)})
		}
	}
	return nextNanos
}

var (
	errTooBusy = errors.New("other reports are being sent; try again in a minute")
	errNoTime  = errors.New("the e-mail of the report was not sent in time, because the exchange was busy with the e-mails of other reports")
)

// sendItem makes one attempt to send the e-mail of a report at a moment.
func (s *Service) sendItem(ctx context.Context, item notify.Item) error {
	select {
	case s.attempts <- struct{}{}:
		defer func() { <-s.attempts }()
	case <-ctx.Done():
		return errNoTime
	}
	entry, found := s.options.Table.Find(item.Channel)
	if moment := int64(item.ID); !found || entry.Schedule == nil || moment <= entry.Since || moment <= entry.Handled {
		return notify.ErrNoChannel // an operator removed the report or changed its schedule meanwhile
	}
	recipients := slices.DeleteFunc(slices.Clone(entry.Schedule.Recipients), func(address string) bool { return slices.Contains(item.Accepted, address) })
	if len(recipients) == 0 && len(item.Accepted) > 0 { // an operator removed the others after the first attempt
		return nil
	}
	return s.sendOnce(ctx, &entry, recipients, int64(item.ID))
}

// sendOnce computes a report and makes one attempt to send it.
func (s *Service) sendOnce(ctx context.Context, entry *savedreport.Entry, recipients []string, momentNanos int64) error {
	sender, err := s.options.Sender()
	if err != nil {
		return err
	}
	message, err := s.composeOneAtATime(ctx, entry, momentNanos)
	if err != nil {
		return err
	}
	message.From, message.To = sender.From, recipients
	return s.options.Send(ctx, sender.Server, message)
}

// composeOneAtATime computes one report at a time: the exchange answers few reports at once, and operators wait
// for theirs.
func (s *Service) composeOneAtATime(ctx context.Context, entry *savedreport.Entry, momentNanos int64) (*mail.Message, error) {
	select {
	case s.computing <- struct{}{}:
		defer func() { <-s.computing }()
	case <-ctx.Done():
		return nil, errNoTime
	}
	return s.options.Compose(ctx, entry, momentNanos)
}

// recordOutcome records how the e-mail of a moment ended. If that fails, a restart sends it again. It
// ignores a dropped e-mail, whose report or schedule no longer exists.
func (s *Service) recordOutcome(item notify.Item, outcome notify.FinalOutcome, cause error) {
	if outcome == notify.Dropped {
		return // its report or its schedule no longer exists
	}
	s.recordAndLogMailEnd(&event.ReportMailEnded{Report: item.Channel, Moment: int64(item.ID)}, outcome == notify.Sent, cause)
}

// recordAndLogMailEnd records the end of an e-mail. cause is nil if all recipients have it; if the
// e-mail is sent, it names the recipients that the server refused. The process's log does not contain
// the recipients, which a server may repeat in its answer.
func (s *Service) recordAndLogMailEnd(ended *event.ReportMailEnded, isSent bool, cause error) {
	ended.Outcome, ended.At = event.ReportMailFailed, s.options.Now()
	if isSent {
		ended.Outcome = event.ReportMailSent
	}
	if cause != nil {
		ended.Error = alerts.RemoveUnprintableAndCut(cause.Error(), maxErrorLength)
	}
	log := s.options.Logger.With("report", ended.Report, "moment", time.Unix(0, ended.Moment).UTC().Format(time.RFC3339))
	if err := s.options.RecordMail(ended); err != nil {
		log.Warn("the end of a report's e-mail was not recorded; a scheduled one is sent again after a restart", "error", err)
	}
	if cause != nil {
		message := "a report was not sent"
		if isSent {
			message = "a report was sent, but not to all its recipients"
		}
		log.Warn(message, "error", alerts.RemoveUnprintableAndCut(mail.MaskAddresses(cause.Error()), maxErrorLength))
		return
	}
	log.Info("a report was sent")
}

// maxErrorLength limits the texts of errors, which may contain a server's answer.
const maxErrorLength = 300

// Send implements savedreports.Service.
func (s *Service) Send(entry *savedreport.Entry, recipients []string, by string) (isSentToSome bool, err error) {
	select {
	case s.attempts <- struct{}{}:
		defer func() { <-s.attempts }()
	default:
		return false, errTooBusy
	}
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	requested := s.options.Now()
	err = s.sendOnce(ctx, entry, recipients, requested)
	var partly *mail.RecipientError
	isSentToSome = err == nil || errors.As(err, &partly) && len(partly.Accepted) > 0
	s.recordAndLogMailEnd(&event.ReportMailEnded{Report: entry.ID, Moment: requested, Requested: true, By: by}, isSentToSome, err)
	return isSentToSome, err
}

// SavedReportTable returns the saved reports in the state.
func (s *Service) SavedReportTable() *savedreport.Table { return s.options.Table }

// ChangeSavedReport implements savedreports.Service.
func (s *Service) ChangeSavedReport(by string, decide func() (id string, report *savedreport.SavedReport, err error)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	id, report, err := decide()
	if err != nil {
		return err
	}
	if report == nil {
		return s.options.SetReport(by, id, nil)
	}
	return s.options.SetReport(by, id, report.Encode())
}

// MailAttemptStates implements savedreports.Service.
func (s *Service) MailAttemptStates() map[string]savedreports.MailAttemptState {
	all := make(map[string]savedreports.MailAttemptState)
	for id, h := range s.queue.HealthByChannel() {
		all[id] = savedreports.MailAttemptState{IsWaiting: h.Queued > 0, FailingSince: h.FailingSince, LastError: alerts.RemoveUnprintableAndCut(h.LastError, maxErrorLength)}
	}
	return all
}

// MailChannelID implements savedreports.Service.
func (s *Service) MailChannelID() (alertChannelIDOrEmpty string) { return s.options.ChannelID() }

// Zone returns the time zone of schedules and periods.
func (s *Service) Zone() *time.Location { return s.options.Zone }

// Now returns the exchange's time in Unix nanoseconds.
func (s *Service) Now() int64 { return s.options.Now() }

// messageID returns the Message-ID of an e-mail: the same at each attempt, also after a restart.
// exchangeID makes it unique among exchanges with the same recipients.
func messageID(exchangeID, reportID string, momentNanos int64) string {
	return exchangeID + "_" + reportID + "_" + strconv.FormatInt(momentNanos, 10) + "@pingpost"
}
