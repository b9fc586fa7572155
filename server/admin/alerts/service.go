package alerts

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/alert"
	"pingpost/server/admin/payload"
)

// Service runs the alerts of an exchange. The exchange implements it.
type Service interface {
	// AlertTable returns the settings, the alerts that fire and the history.
	AlertTable() *alert.Table
	// ChangeSettings applies a function to a copy of the settings and records the result, in the name
	// of an operator. It returns the function's error, or that of recording.
	ChangeSettings(by string, change func(*alert.Settings) error) error
	// Seal encrypts a channel's secret.
	Seal(secretName, value string) []byte
	// Test sends a test notification to a channel and waits for the result.
	Test(channel *alert.Channel) error
	// LastEvaluation returns the pending alerts, the current values, and the time of the last evaluation.
	LastEvaluation() (pending []alert.PendingAlert, valueOf func(alert.Key) (alert.ValueAtLastEvaluation, bool), atUnixNanos int64)
	HealthByChannel() map[string]ChannelHealth
	// IsConfiguredSubject reports whether the active configuration has a buyer, campaign or supplier of
	// this id.
	IsConfiguredSubject(subjectType alert.SubjectKind, id string) bool
	// Now returns the exchange's time in Unix nanoseconds.
	Now() int64
}

// ChannelCounts has the number of a channel's notifications that wait now (Queued), and the numbers
// since the start of the process (the others).
type ChannelCounts struct {
	Queued  int    `json:"queued"`
	Sent    uint64 `json:"sent"`
	Failed  uint64 `json:"failed"`
	Dropped uint64 `json:"dropped"`
}

// ChannelHealth says whether a channel's notifications arrive, in JSON.
type ChannelHealth struct {
	ChannelCounts
	LastSuccess    *string `json:"last_success_at"`
	FailingSince   *string `json:"failing_since"`
	LastError      *string `json:"last_error"`
	AttemptStarted *string `json:"attempt_started_at"` // null: no attempt runs
}

// NewChannelHealth returns the health in JSON. Zero times become null.
func NewChannelHealth(counts ChannelCounts, lastSuccess, failingSince, attemptStarted time.Time, lastError string) ChannelHealth {
	return ChannelHealth{counts, timeOrNull(lastSuccess), timeOrNull(failingSince), payload.NullIfEmpty(lastError), timeOrNull(attemptStarted)}
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return payload.NullIfEmpty(payload.FormatTimeToSeconds(t.UnixNano()))
}

// RemoveUnprintableAndCut returns at most maxBytes of a text in one line, without characters that do not print.
func RemoveUnprintableAndCut(text string, maxBytes int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	for len(text) > maxBytes {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
