package savedreports

import (
	"time"

	"pingpost/engine/savedreport"
)

// Service keeps the saved reports of an exchange and sends them. The exchange implements it.
type Service interface {
	// SavedReportTable returns the saved reports.
	SavedReportTable() *savedreport.Table
	// ChangeSavedReport calls decide and records its result in the name of an operator: the report with
	// this id, or its removal if report is nil. No other change happens meanwhile. An error of decide
	// is returned.
	ChangeSavedReport(by string, decide func() (id string, report *savedreport.SavedReport, err error)) error
	// Send sends a report now to these recipients, with one attempt, and waits for the result. The
	// caller fills in those of the schedule. isSent means that at least one recipient has it; the error
	// names the others.
	Send(entry *savedreport.Entry, recipients []string, by string) (isSent bool, err error)
	// MailAttemptState returns the state of the e-mail of each report that the schedule has sent or tried to
	// send since the start.
	MailAttemptStates() map[string]MailAttemptState
	// MailChannelID returns the id of the channel of alerts that sends e-mail, or an empty text.
	MailChannelID() string
	// Zone returns the time zone of schedules and periods.
	Zone() *time.Location
	// Now returns the exchange's time in Unix nanoseconds.
	Now() int64
}

// MailAttemptState is the state of the e-mail of one report.
type MailAttemptState struct {
	IsWaiting    bool      // an e-mail is being sent, or waits for its next attempt
	FailingSince time.Time // zero: the last attempt succeeded, or there was none
	LastError    string    // of the attempts since FailingSince
}
