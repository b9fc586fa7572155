package savedreport

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pingpost/engine/event"
)

// Entry is a saved report with the state of its e-mails.
type Entry struct {
	ID string `json:"id"`
	SavedReport
	ChangedAt int64  `json:"changed_at"` // Unix nanoseconds
	ChangedBy string `json:"changed_by"`

	// Since is the time from which on moments of the schedule count: that of the change that gave the
	// report these moments.
	Since int64 `json:"since"`
	// Handled is the last moment of the schedule whose e-mail ended; zero: none.
	Handled int64 `json:"handled"`

	LastSent    int64  `json:"last_sent"` // Unix nanoseconds; zero: none
	LastFailure int64  `json:"last_failure"`
	LastError   string `json:"last_error"` // of LastFailure
}

// Due returns the latest moment of the schedule by nowUnixNanos whose e-mail has not ended, in Unix
// nanoseconds. The bool is false if there is none. Earlier moments are never sent.
func (e *Entry) Due(nowUnixNanos int64, zone *time.Location) (momentNanos int64, isDue bool) {
	if e.Schedule == nil {
		return 0, false
	}
	moment := e.Schedule.LatestBy(nowUnixNanos, zone)
	return moment, moment > e.Since && moment > e.Handled
}

// Table is the part of the state that saved reports have. Apply changes it; all methods are safe for
// concurrent use. Its zero value is the state of a log without saved reports. Callers must not change
// the slices and maps of its entries.
type Table struct {
	mu      sync.Mutex // guards the following field
	entries map[string]Entry
}

// ApplyChange sets or removes a report. A document that this program cannot read, for example because
// of a bug in an earlier one, leaves the table unchanged.
func (t *Table) ApplyChange(e *event.SavedReportChanged) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(e.Document) == 0 {
		delete(t.entries, e.ID)
		return
	}
	parsed, err := DecodeSavedReport(e.Document)
	if err != nil {
		return
	}
	if t.entries == nil {
		t.entries = make(map[string]Entry)
	}
	id := strings.Clone(e.ID)
	entry := t.entries[id]
	if !parsed.Schedule.hasSameMomentsAs(entry.Schedule) {
		entry.Since, entry.Handled = e.At, 0
	}
	entry.ID, entry.SavedReport, entry.ChangedAt, entry.ChangedBy = id, parsed, e.At, strings.Clone(e.By)
	t.entries[id] = entry
}

// ApplyMail records how an e-mail ended. The event of a removed report has no effect.
func (t *Table) ApplyMail(e *event.ReportMailEnded) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, ok := t.entries[e.Report]
	if !ok {
		return
	}
	if !e.Requested {
		entry.Handled = max(entry.Handled, e.Moment)
	}
	if e.Outcome == event.ReportMailSent {
		entry.LastSent, entry.LastFailure, entry.LastError = e.At, 0, ""
	}
	if e.Outcome != event.ReportMailSent || e.Error != "" { // a sent e-mail may have refused recipients
		entry.LastFailure, entry.LastError = e.At, strings.Clone(e.Error)
	}
	t.entries[entry.ID] = entry
}

// Find returns the report with this id.
func (t *Table) Find(id string) (entry Entry, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, found = t.entries[id]
	return entry, found
}

// All returns all reports, sorted by name.
func (t *Table) All() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.entries), func(a, b Entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
}

// EncodeSnapshot returns the table for a snapshot of the state. It is empty for an empty table.
func (t *Table) EncodeSnapshot() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.entries) == 0 {
		return nil
	}
	all := slices.SortedFunc(maps.Values(t.entries), func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	text, err := json.Marshal(all)
	if err != nil {
		panic("BUG: cannot encode the saved reports of a snapshot: " + err.Error())
	}
	return text
}

// DecodeSnapshot fills an empty table with the result of EncodeSnapshot.
func (t *Table) DecodeSnapshot(encoded []byte) error {
	if len(encoded) == 0 {
		return nil
	}
	var all []Entry
	if err := json.Unmarshal(encoded, &all); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = make(map[string]Entry, len(all))
	for i := range all {
		t.entries[all[i].ID] = all[i]
	}
	return nil
}
