package exchange

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// reportConfig is a configuration that keeps a report.
func reportConfig(config string) string {
	return strings.Replace(config, "report: {keep: 0s}", "report: {keep: 400d}", 1)
}

// waitForReport waits until the report has all log entries and the rows match. A row maps names to
// cells.
func (r *testExchange) waitForReport(query string, matches func([]map[string]string) bool) (rows []map[string]string) {
	r.t.Helper()
	eventually(r.t, "the report has all log entries", func() bool {
		if !r.Report().WaitBrieflyForNewestEntries(r.t.Context(), 0) {
			return false
		}
		answer := r.adminRequest("GET", "/admin/v1/report?format=csv&"+query, "")
		if answer.status != 200 {
			return false
		}
		rows = nil
		cells := must.Value(csv.NewReader(strings.NewReader(answer.body)).ReadAll())(r.t)
		for _, line := range cells[1:] {
			row := map[string]string{}
			for i, name := range cells[0] {
				row[name] = line[i]
			}
			rows = append(rows, row)
		}
		return matches(rows)
	})
	return rows
}

func hasRevenue(revenue string) func([]map[string]string) bool {
	return func(rows []map[string]string) bool { return len(rows) == 1 && rows[0]["revenue"] == revenue }
}

// TestReportSurvivesDamageAndRestart: leads sold while its file is removed, damaged or rebuilt
// appear in the report later.
func TestReportSurvivesDamageAndRestart(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	file := func() string {
		t.Helper()
		rows, err := filepath.Glob(filepath.Join(x.dataDir(), "report", "*.db"))
		if err != nil || len(rows) != 1 {
			t.Fatalf("want one report file, got %v, %v", rows, err)
		}
		return rows[0]
	}
	for i, disturb := range []func(){
		func() {},
		func() {
			must.Succeed(t, os.Remove(file()))
		},
		func() {
			must.Succeed(t, os.Truncate(file()+"-wal", 0))
			must.Succeed(t, os.WriteFile(file(), []byte("garbage"), 0o600))
			x.Report().RequestRebuild() // a periodic check would find it hours later
		},
		func() { x.mustAdmin(202, "POST", "/admin/v1/report/rebuild", "") },
		func() { x = x.restart() },
	} {
		disturb()
		x.mustSell(leadBody(i, "state", `"CA"`))
		row := x.waitForReport("supplier=sup_acme&buyer=buy_blue&state=CA", hasRevenue([]string{"12.05", "24.1", "36.15", "48.2", "60.25"}[i]))[0]
		if row["currency"] != "USD" || row["sales"] != fmt.Sprint(i+1) || row["payout"] != []string{"9.64", "19.28", "28.92", "38.56", "48.2"}[i] {
			t.Errorf("step %d: %v", i, row)
		}
	}
	answer := x.adminRequest("GET", "/admin/v1/report?by=buyer,day&zone=Asia/Kolkata", "")
	if !strings.Contains(answer.body, `"day":"`) || !strings.Contains(answer.body, `"buyer_id":"buy_blue"`) || answer.header.Get("X-Report-Entry") == "" {
		t.Errorf("unexpected report: %v %s", answer.header, answer.body)
	}
	x.checkMetrics("pingpost_report_lag_seconds 0", "pingpost_report_lag_entries 0", "pingpost_report_rebuilds_total 0")
	x.stop()
	checkNoFileContains(t, filepath.Join(x.dataDir(), "report"), canaries...)
}

// TestReportNeedsMoreDiskSpaceThanLeads: the report stops writing long before leads are rejected.
func TestReportNeedsMoreDiskSpaceThanLeads(t *testing.T) {
	t.Parallel()
	var s diskMonitor
	s.setExpectedSnapshotSize(10)
	for free, want := range map[uint64]bool{0: false, s.bytesNeededToAcceptLeads(): false, s.bytesNeededToAcceptLeads() + reserve - 1: false, s.bytesNeededToAcceptLeads() + reserve: true} {
		if s.free.Store(free); s.hasSpaceForOptionalFiles() != want {
			t.Errorf("with %d bytes free: got %v", free, !want)
		}
	}
}

// TestReportRetentionUsesExchangeClock: not the machine's clock, because a wrong one would expire
// all leads.
func TestReportRetentionUsesExchangeClock(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, strings.Replace(reportConfig(baseConfig), "400d", "1d", 1)))
	x.mustSell(leadBody(0, "state", `"CA"`))
	x.clock.AdvanceTo(time.Now().Add(50 * time.Hour).UnixNano())
	x.mustSell(leadBody(1, "state", `"CA"`))
	x.stop()
	x = startAcceptingClock(t, x.testDir)
	x.waitForReport("from="+time.Now().Add(48*time.Hour).UTC().Format("2006-01-02T15:00:00Z"), hasRevenue("12.05"))
	eventually(t, "the lead older than a day is removed", func() bool {
		return strings.Count(x.adminRequest("GET", "/admin/v1/leads", "").body, `"id":"lead_`) == 1
	})
}
