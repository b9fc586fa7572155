package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// renamedSourceConfig maps the field utm_source to source.
func renamedSourceConfig(config string) string {
	return strings.Replace(reportConfig(config), "    duplicates: {window: 0s}\n", "    duplicates: {window: 0s}\n    fields: [{name: utm_source, to: source}]\n", 1)
}

// waitForSource waits until a report by source has the numbers of leads of one source and of all.
func (r *testExchange) waitForSource(source string, leads, all int) {
	r.t.Helper()
	r.waitForReport("by=source", func(rows []map[string]string) bool {
		matching, sum := 0, 0
		for _, row := range rows {
			var n int
			must.Value(fmt.Sscan(row["leads"], &n))(r.t)
			if sum += n; row["source"] == source {
				matching += n
			}
		}
		return matching == leads && sum == all
	})
}

// TestReportByMappedSource: the report has the mapped source under both field names, also after a
// rebuild and after the mapping is removed.
func TestReportByMappedSource(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, renamedSourceConfig(baseConfig)))
	x.mustSell(leadBody(1, "utm_source", `"facebook"`))
	x.mustSell(leadBody(2, "source", `"facebook"`))
	x.mustSell(leadBody(3, "utm_source", `"facebook"`, "source", `"mail"`)) // the name source wins
	x.mustSell(leadBody(4, "utm_medium", `"facebook"`))
	x.waitForSource("facebook", 3, 4)
	x.waitForReport("by=state&source=facebook", hasRevenue("36.15"))
	x.mustAdmin(202, "POST", "/admin/v1/report/rebuild", "")
	x.waitForSource("facebook", 3, 4)
	x.writeConfig(t, reportConfig(baseConfig))
	x = x.restart()
	x.mustAdmin(202, "POST", "/admin/v1/report/rebuild", "")
	x.waitForSource("facebook", 3, 4)
}

// TestReportBySourceOfPing: the lead has the source of its ping.
func TestReportBySourceOfPing(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, renamedSourceConfig(referenceConfig("ping_post", startReferenceBuyer(t, "12.5")))))
	bid := x.sellerRequest("/v1/ping", "k1", `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"utm_source":"search"}`)
	if sale := x.postToBid("theirs-1", bidToken(t, bid), 1); sale.status != 201 {
		t.Fatalf("post: got %d %s", sale.status, sale.body)
	}
	x.waitForSource("search", 1, 1)
	x.waitForReport("source=search", func(rows []map[string]string) bool { return len(rows) == 1 && rows[0]["auctions"] == "1" })
}
