package savedreport

import (
	"encoding/json"
	"fmt"
)

// Limits of saved reports. They bound the memory of the table and the work of a schedule.
const (
	MaxReports    = 100
	MaxRecipients = 20
)

// SavedReport is a report query under a name. Its JSON is the document of event.SavedReportChanged.
type SavedReport struct {
	Name     string    `json:"name"`
	Query    Query     `json:"query"`
	Schedule *Schedule `json:"schedule,omitempty"` // nil: it is not sent by e-mail
}

// Query is a report query in the terms of GET /admin/v1/report.
type Query struct {
	By      []string          `json:"by"`      // dimensions, in the order of the columns
	Filters map[string]string `json:"filters"` // the only value of a dimension
	Period  string            `json:"period"`  // name of a period, such as yesterday
	Columns []string          `json:"columns"` // in their order; empty: all
	Totals  bool              `json:"totals"`  // the last rows are the totals
}

// DecodeSavedReport decodes the JSON document of an event.SavedReportChanged. It does not check the
// name, the query or the schedule.
func DecodeSavedReport(document []byte) (SavedReport, error) {
	var parsed SavedReport
	if err := json.Unmarshal(document, &parsed); err != nil {
		return SavedReport{}, fmt.Errorf("cannot decode the saved report (a query and its schedule) in an event of the log: %w", err)
	}
	return parsed, nil
}

// Encode returns the report as the document of an event.
func (r *SavedReport) Encode() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("BUG: cannot encode a saved report: " + err.Error())
	}
	return text
}
