package savedreports

import (
	"pingpost/engine/savedreport"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/payload"
)

// reportAnswer is a saved report in JSON.
type reportAnswer struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Query     savedQueryJSON `json:"query"`
	Schedule  *scheduleJSON  `json:"schedule"` // null: it is not sent by e-mail
	Mail      mailStateJSON  `json:"mail"`
	ChangedAt string         `json:"changed_at"`
	ChangedBy string         `json:"changed_by"`
	ETag      string         `json:"etag"`
}

type savedQueryJSON struct {
	By      []string          `json:"by"`
	Filters map[string]string `json:"filters"`
	Period  string            `json:"period"`
	Columns []string          `json:"columns"`
	Totals  bool              `json:"totals"`
}

type scheduleJSON struct {
	Frequency  savedreport.Frequency `json:"frequency"`
	Weekday    string                `json:"weekday,omitempty"`
	Day        int                   `json:"day,omitempty"`
	Time       string                `json:"time"`
	Recipients []string              `json:"recipients"`
}

// mailStateJSON is the state of a report's e-mails.
type mailStateJSON struct {
	Next         *string `json:"next_at"` // null: no schedule
	LastSent     *string `json:"last_sent_at"`
	Waiting      bool    `json:"waiting"` // an e-mail is being sent, or waits for its next attempt
	FailingSince *string `json:"failing_since"`
	LastError    *string `json:"last_error"`
}

func newReportAnswer(s Service, e *savedreport.Entry, progress MailAttemptState) reportAnswer {
	answer := reportAnswer{
		ID: e.ID, Name: e.Name, ChangedAt: payload.FormatTimeToSeconds(e.ChangedAt), ChangedBy: e.ChangedBy, ETag: alerts.ETagOf(&e.SavedReport),
		Query: savedQueryJSON{By: append([]string{}, e.Query.By...), Filters: e.Query.Filters, Period: e.Query.Period, Columns: append([]string{}, e.Query.Columns...), Totals: e.Query.Totals},
		Mail:  mailStateJSON{LastSent: payload.FormatTimeOrNull(e.LastSent), Waiting: progress.IsWaiting},
	}
	if answer.Query.Filters == nil {
		answer.Query.Filters = map[string]string{}
	}
	if e.Schedule != nil {
		schedule := scheduleJSON(*e.Schedule)
		answer.Schedule = &schedule
		answer.Mail.Next = payload.FormatTimeOrNull(e.Schedule.NextAfter(s.Now(), s.Zone()))
	}
	switch {
	case !progress.FailingSince.IsZero() && progress.FailingSince.UnixNano() > e.LastSent:
		answer.Mail.FailingSince = payload.FormatTimeOrNull(progress.FailingSince.UnixNano())
		answer.Mail.LastError = payload.NullIfEmpty(progress.LastError)
	case e.LastFailure > 0:
		answer.Mail.FailingSince, answer.Mail.LastError = payload.FormatTimeOrNull(e.LastFailure), payload.NullIfEmpty(e.LastError)
	}
	return answer
}
