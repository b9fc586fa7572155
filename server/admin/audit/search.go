package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/report/projection"
	"pingpost/server/admin/payload"
)

// Entry is a record of the audit log in JSON. The exported CSV has the same columns.
type Entry struct {
	ID         string          `json:"id"`
	At         string          `json:"at"`
	Ended      *string         `json:"ended_at"` // null: the exchange stopped before it recorded the outcome
	Actor      *string         `json:"actor"`    // null: the exchange itself, or an unknown client
	Credential string          `json:"credential"`
	Token      *string         `json:"api_token_id"`
	Role       *string         `json:"role"`
	Address    *string         `json:"address"`
	Operation  string          `json:"operation"`
	TargetKind *string         `json:"target_kind"`
	Target     *string         `json:"target"`
	RequestID  *string         `json:"request_id"` // of an answer with an error
	Outcome    string          `json:"outcome"`
	Status     *int            `json:"status"`
	Request    json.RawMessage `json:"request"`
	Before     json.RawMessage `json:"before"`
	After      json.RawMessage `json:"after"`
	Result     json.RawMessage `json:"result"`
	Omitted    int             `json:"omitted,omitempty"` // failures before this one without an entry
}

// The outcomes of an entry. Unknown means that the exchange stopped between the two events of the
// action, so the action may have taken effect: the events of the log after the first one show it.
const (
	OutcomeDone    = "done"
	OutcomeFailed  = "failed"
	OutcomeUnknown = "unknown"
)

// NewEntry returns a row of the report as an entry.
func NewEntry(a *projection.ActionRow) Entry {
	entry := Entry{
		ID: a.ID.String(), At: payload.FormatTimeWithNanos(a.At), Actor: payload.NullIfEmpty(a.Actor), Credential: a.Credential.String(), Token: payload.NullIfEmpty(a.Token),
		Address: payload.NullIfEmpty(a.Address), Operation: a.Operation, TargetKind: payload.NullIfEmpty(a.TargetKind), Target: payload.NullIfEmpty(a.Target),
		Outcome: OutcomeUnknown,
		Request: rawOrNull(a.Request), Before: rawOrNull(a.Before), After: rawOrNull(a.After), Result: rawOrNull(a.Result), Omitted: a.Omitted,
	}
	if a.Role != 0 {
		entry.Role = payload.NullIfEmpty(a.Role.String())
	}
	if !a.Answer.IsZero() {
		entry.RequestID = payload.NullIfEmpty(a.Answer.String())
	}
	if a.Ended != 0 {
		entry.Ended, entry.Outcome = payload.NullIfEmpty(payload.FormatTimeWithNanos(a.Ended)), OutcomeDone
		if a.Status != 0 {
			entry.Status = &a.Status
		}
		if a.Status >= 400 {
			entry.Outcome = OutcomeFailed
		}
	}
	return entry
}

// rawOrNull returns a JSON text, or null for an empty or damaged one.
func rawOrNull(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// Exporter reads the matching records page by page, newest first, and encodes them. It never holds more
// than one page.
type Exporter struct {
	// Search returns one page, and the After of the next one, which is zero for the last page.
	Search func(*report.ActionQuery) ([]projection.ActionRow, market.RequestID, error)
	Query  report.ActionQuery
	CSV    bool // false: NDJSON
	ended  bool
	text   bytes.Buffer
}

// ContentType returns the media type of the export.
func (x *Exporter) ContentType() string {
	if x.CSV {
		return "text/csv; charset=utf-8"
	}
	return "application/x-ndjson"
}

var csvColumns = []string{
	"id", "at", "ended_at", "actor", "credential", "api_token_id", "role", "address", "operation", "target_kind", "target",
	"request_id", "outcome", "status", "request", "before", "after", "result", "omitted",
}

// AppendHead appends the text before the first record: the names of the columns of CSV.
func (x *Exporter) AppendHead(dst []byte) []byte {
	if !x.CSV {
		return dst
	}
	return x.appendCSVLine(dst, csvColumns)
}

// AppendNextPage appends the next records. more is false after the last ones.
func (x *Exporter) AppendNextPage(dst []byte) (extended []byte, more bool, err error) {
	if x.ended {
		return dst, false, nil
	}
	rows, next, err := x.Search(&x.Query)
	if err != nil {
		return dst, false, err
	}
	for i := range rows {
		entry := NewEntry(&rows[i])
		if x.CSV {
			dst = x.appendCSVLine(dst, entry.cells())
		} else {
			dst = append(append(dst, payload.EncodeJSON(&entry)...), '\n')
		}
	}
	x.Query.After, x.ended = next, next.IsZero()
	return dst, !x.ended, nil
}

// cells returns the entry's cells of CSV. A text that a spreadsheet would read as a formula gets an
// apostrophe in front.
func (e *Entry) cells() []string {
	status := ""
	if e.Status != nil {
		status = strconv.Itoa(*e.Status)
	}
	cells := []string{
		e.ID, e.At, textOf(e.Ended), textOf(e.Actor), e.Credential, textOf(e.Token), textOf(e.Role), textOf(e.Address), e.Operation, textOf(e.TargetKind), textOf(e.Target),
		textOf(e.RequestID), e.Outcome, status, jsonCell(e.Request), jsonCell(e.Before), jsonCell(e.After), jsonCell(e.Result), strconv.Itoa(e.Omitted),
	}
	for i := range cells {
		cells[i] = report.EscapeFormula(cells[i])
	}
	return cells
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func jsonCell(raw json.RawMessage) string {
	return strings.TrimPrefix(string(raw), "null")
}

// appendCSVLine appends a line of CSV (RFC 4180). It ignores errors, because writing to memory cannot
// fail.
func (x *Exporter) appendCSVLine(dst []byte, cells []string) []byte {
	x.text.Reset()
	w := csv.NewWriter(&x.text)
	w.UseCRLF = true
	_ = w.Write(cells)
	w.Flush()
	return append(dst, x.text.Bytes()...)
}
