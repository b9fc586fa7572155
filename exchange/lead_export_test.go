package exchange

import (
	"encoding/csv"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// TestLeadExport exports leads of a running exchange with the filters of a search.
func TestLeadExport(t *testing.T) {
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	sold := map[string]bool{}
	for i := range 3 {
		sold[x.mustSell(leadBody(i)).leadID()] = true
	}
	unsold := x.ingest(leadBody(9, "state", `"TX"`)).leadID()
	if n := len(x.search("leads").Leads); n != 4 {
		t.Fatalf("the report has %d leads", n)
	}
	a := x.mustAdmin(200, "GET", "/admin/v1/leads/export?format=csv&status=ACCEPTED&columns=id,price", "")
	if got := a.header.Get("Content-Disposition"); got != `attachment; filename="leads.csv"` || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", a.header)
	}
	rows := must.Value(csv.NewReader(strings.NewReader(a.body)).ReadAll())(t)
	for _, row := range rows[1:] {
		if !sold[row[0]] || row[1] != "12.05" {
			t.Errorf("unexpected row: %q", row)
		}
		delete(sold, row[0])
	}
	if len(sold) > 0 || len(rows) != 4 {
		t.Errorf("leads %v are missing in %q", sold, rows)
	}
	if line := x.mustAdmin(200, "GET", "/admin/v1/leads/export?state=TX", "").body; strings.Count(line, "\n") != 1 || !strings.Contains(line, `"id":"`+unsold+`"`) || !strings.Contains(line, `"reason":"no_state_match"`) {
		t.Errorf("NDJSON: %s", line)
	}
	for _, query := range []string{"format=json", "format=xls", "columns=phone", "status=none", "from=x", "limit=5"} {
		x.adminRequest("GET", "/admin/v1/leads/export?"+query, "").mustFail(t, 422, "invalid_payload")
	}
}
