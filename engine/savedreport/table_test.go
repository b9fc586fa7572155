package savedreport

import (
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/must"
)

const (
	hour = int64(time.Hour)
	day  = 24 * hour
)

func dailyReport(at string, recipients ...string) *SavedReport {
	return &SavedReport{Name: "Sales", Query: Query{By: []string{"day"}, Period: "yesterday"}, Schedule: &Schedule{Frequency: Daily, Time: at, Recipients: recipients}}
}

func (t *Table) set(report *SavedReport, at int64) {
	t.ApplyChange(&event.SavedReportChanged{ID: "r", Document: report.Encode(), At: at, By: "anna"})
}

func (t *Table) due(now int64) int64 {
	entry, _ := t.Find("r")
	moment, isDue := entry.Due(now, time.UTC)
	if !isDue {
		return 0
	}
	return moment
}

func checkDue(t *testing.T, table *Table, now, want int64) {
	t.Helper()
	if got := table.due(now); got != want {
		t.Errorf("at %d h: due is %d h, want %d h", now/hour, got/hour, want/hour)
	}
}

// A moment is due once: after the schedule was set, until its e-mail ends. After an outage only the
// latest one is due.
func TestDueMoment(t *testing.T) {
	table := &Table{}
	table.set(dailyReport("08:00"), 9*hour)
	checkDue(t, table, 9*hour, 0) // the moment before the change
	checkDue(t, table, day+8*hour-1, 0)
	checkDue(t, table, day+8*hour, day+8*hour)
	checkDue(t, table, 5*day+9*hour, 5*day+8*hour)
	table.ApplyMail(&event.ReportMailEnded{Report: "r", Moment: 3 * day, Outcome: event.ReportMailSent, Requested: true, At: 3 * day})
	checkDue(t, table, 5*day+9*hour, 5*day+8*hour)
	table.ApplyMail(&event.ReportMailEnded{Report: "r", Moment: 5*day + 8*hour, Outcome: event.ReportMailFailed, Error: "refused", At: 5*day + 9*hour})
	checkDue(t, table, 6*day+8*hour-1, 0)
	checkDue(t, table, 6*day+8*hour, 6*day+8*hour)
	entry, _ := table.Find("r")
	if entry.LastSent != 3*day || entry.LastFailure != 5*day+9*hour || entry.LastError != "refused" {
		t.Errorf("%+v", entry)
	}
}

// A change of the moments begins anew; another change does not skip a moment that is due.
func TestChangedSchedule(t *testing.T) {
	table := &Table{}
	table.set(dailyReport("08:00"), 0)
	table.set(dailyReport("08:00", "a@example.com"), day+9*hour)
	checkDue(t, table, day+9*hour, day+8*hour)
	table.set(dailyReport("08:30"), day+9*hour)
	checkDue(t, table, day+9*hour, 0)
	checkDue(t, table, 2*day+9*hour, 2*day+8*hour+hour/2)
	table.set(&SavedReport{Name: "Sales"}, 2*day+9*hour)
	checkDue(t, table, 9*day, 0)
	table.ApplyChange(&event.SavedReportChanged{ID: "r"})
	table.ApplyMail(&event.ReportMailEnded{Report: "r", Outcome: event.ReportMailSent, At: 1})
	if all := table.All(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestSnapshotOfTable(t *testing.T) {
	table := &Table{}
	if len(table.EncodeSnapshot()) != 0 {
		t.Error("an empty table has a snapshot")
	}
	table.set(dailyReport("08:00", "a@example.com"), hour)
	table.ApplyMail(&event.ReportMailEnded{Report: "r", Moment: 8 * hour, Outcome: event.ReportMailSent, At: 9 * hour})
	table.ApplyChange(&event.SavedReportChanged{ID: "damaged", Document: []byte("{")})
	loaded := &Table{}
	must.Succeed(t, loaded.DecodeSnapshot(table.EncodeSnapshot()))
	if got, want := string(loaded.EncodeSnapshot()), string(table.EncodeSnapshot()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if entry, found := loaded.Find("r"); !found || entry.Handled != 8*hour || entry.ChangedBy != "anna" || entry.Schedule.Recipients[0] != "a@example.com" {
		t.Errorf("%+v", entry)
	}
	if loaded.DecodeSnapshot([]byte("{")) == nil {
		t.Error("a damaged snapshot was accepted")
	}
}
