package exchange

import (
	"strings"
	"testing"
)

// TestTimeZoneOfReports checks that days of the overview, of reports, statements and searches are those
// of the configured zone. Kiritimati is 14 hours ahead of UTC and has no other offset in the year.
func TestTimeZoneOfReports(t *testing.T) {
	const zone = "Pacific/Kiritimati"
	x := start(t, newTestDir(t, strings.Replace(reportConfig(baseConfig), "listen:", "time_zone: "+zone+"\nlisten:", 1)))
	x.mustSell(leadBody(1))
	x.waitForAllLogEntries()
	leads, rows := 0, "" // of two days, because midnight can pass during the test
	for _, period := range []string{"today", "yesterday"} {
		leads += len(x.search("leads?period=" + period).Leads)
		rows += x.mustAdmin(200, "GET", "/admin/v1/report?by=day&columns=day,sales&totals=1&format=csv&period="+period, "").body
	}
	if leads == 0 || !strings.Contains(rows, "T00:00:00+14:00,1\r\n,1\r\n") {
		t.Errorf("%d leads, and a report with the rows %q", leads, rows)
	}
	if overview := x.mustAdmin(200, "GET", "/admin/v1/overview", "").body; !strings.Contains(overview, `"time_zone":"`+zone+`"`) {
		t.Errorf("the overview does not name the zone: %s", overview)
	}
	day := decode[struct{ From, To string }](t, x.mustAdmin(200, "GET", "/admin/v1/statement?supplier=sup_acme&from=2099-01-01&to=2099-01-02", ""))
	if day.From != "2098-12-31T10:00:00Z" || day.To != "2099-01-01T10:00:00Z" {
		t.Errorf("the statement of a day is from %s to %s", day.From, day.To)
	}
	for _, query := range []string{"report?period=tomorrow", "report?period=today&from=2026-11-01", "statement?supplier=sup_acme&period=x", "leads?period=x", "report?totals=2", "report?columns=phone", "unmatched?period=today&to=2026-11-01"} {
		x.adminRequest("GET", "/admin/v1/"+query, "").mustFail(t, 422, "invalid_payload")
	}
}
