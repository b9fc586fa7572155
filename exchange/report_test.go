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

// reporting is a configuration that keeps a report.
func reporting(config string) string {
	return strings.Replace(config, "report: {keep: 0s}", "report: {keep: 400d}", 1)
}

// reported asks until the report has all that was logged; a row is its cells by name.
func (r *running) reported(query string, rows func([]map[string]string) bool) (found []map[string]string) {
	r.t.Helper()
	eventually(r.t, "the report has all that was logged", func() bool {
		if r.Report().ProgressStatus().LagEntries != 0 {
			return false
		}
		answer := r.operate("GET", "/admin/v1/report?format=csv&"+query, "")
		if answer.status != 200 {
			return false
		}
		found = nil
		cells := must.Value(csv.NewReader(strings.NewReader(answer.body)).ReadAll())(r.t)
		for _, line := range cells[1:] {
			row := map[string]string{}
			for i, name := range cells[0] {
				row[name] = line[i]
			}
			found = append(found, row)
		}
		return rows(found)
	})
	return found
}

func soldFor(revenue string) func([]map[string]string) bool {
	return func(rows []map[string]string) bool { return len(rows) == 1 && rows[0]["revenue"] == revenue }
}

// TestReportOfAnExchange: leads that are sold while its file is removed, damaged or
// asked to be built anew are in it a little later, and after a restart.
func TestReportOfAnExchange(t *testing.T) {
	x := start(t, newPlace(t, reporting(recorded)))
	file := func() string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(x.data(), "report", "*.db"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	for i, do := range []func(){
		func() {},
		func() {
			must.Succeed(t, os.Remove(file()))
		},
		func() {
			must.Succeed(t, os.Truncate(file()+"-wal", 0))
			must.Succeed(t, os.WriteFile(file(), []byte("garbage"), 0o600))
			x.Report().RequestRebuild() // a check finds it by itself, some hours later
		},
		func() { x.must(202, "POST", "/admin/v1/report/rebuild", "") },
		func() { x = x.again() },
	} {
		do()
		x.sold(lead(i, "state", `"CA"`))
		row := x.reported("supplier=sup_acme&buyer=buy_blue&state=CA", soldFor([]string{"12.05", "24.1", "36.15", "48.2", "60.25"}[i]))[0]
		if row["currency"] != "USD" || row["sales"] != fmt.Sprint(i+1) || row["payout"] != []string{"9.64", "19.28", "28.92", "38.56", "48.2"}[i] {
			t.Errorf("%d: %v", i, row)
		}
	}
	answer := x.operate("GET", "/admin/v1/report?by=buyer,day&zone=Asia/Kolkata", "")
	if !strings.Contains(answer.body, `"day":"`) || !strings.Contains(answer.body, `"buyer_id":"buy_blue"`) || answer.header.Get("X-Report-Entry") == "" {
		t.Errorf("%v %s", answer.header, answer.body)
	}
	x.measures("pingpost_report_lag_seconds 0", "pingpost_report_lag_entries 0", "pingpost_report_rebuilds_total 0")
	x.stop()
	hasNone(t, filepath.Join(x.data(), "report"), canaries...)
}

// TestSpare: the report waits long before leads are refused.
func TestSpare(t *testing.T) {
	var s diskMonitor
	s.setExpectedSnapshotSize(10)
	for free, want := range map[uint64]bool{0: false, s.bytesNeededToAcceptLeads(): false, s.bytesNeededToAcceptLeads() + reserve - 1: false, s.bytesNeededToAcceptLeads() + reserve: true} {
		if s.free.Store(free); s.hasSpaceForBackgroundFiles() != want {
			t.Errorf("with %d free: %v", free, !want)
		}
	}
}

// TestReportForgetsByTheExchangesClock, which never goes back and is not the machine's: by
// a machine's that is years ahead for a minute, all would be past its time.
func TestReportForgetsByTheExchangesClock(t *testing.T) {
	x := start(t, newPlace(t, strings.Replace(reporting(recorded), "400d", "1d", 1)))
	x.sold(lead(0, "state", `"CA"`))
	x.clock.AdvanceTo(time.Now().Add(50 * time.Hour).UnixNano())
	x.sold(lead(1, "state", `"CA"`))
	x.stop()
	x = accepting(t, x.place)
	x.reported("from="+time.Now().Add(48*time.Hour).UTC().Format("2006-01-02T15:00:00Z"), soldFor("12.05"))
	eventually(t, "the lead that is older than a day is removed", func() bool {
		return strings.Count(x.operate("GET", "/admin/v1/leads", "").body, `"id":"lead_`) == 1
	})
}
