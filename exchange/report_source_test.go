package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// renamed is a configuration in which the source arrives by another name.
func renamed(config string) string {
	return strings.Replace(reporting(config), "    duplicates: {window: 0s}\n", "    duplicates: {window: 0s}\n    fields: [{name: utm_source, to: source}]\n", 1)
}

// fromSource waits until a report by source has so many leads of one, and so many in all.
func (r *running) fromSource(source string, leads, all int) {
	r.t.Helper()
	r.reported("by=source", func(rows []map[string]string) bool {
		of, sum := 0, 0
		for _, row := range rows {
			var n int
			must.Value(fmt.Sscan(row["leads"], &n))(r.t)
			if sum += n; row["source"] == source {
				of += n
			}
		}
		return of == leads && sum == all
	})
}

// TestReportOfARenamedSource: a report by source has what the campaign's field for it
// held, by whichever of its names that came; also after the report was built anew, and
// under another name in the configuration.
func TestReportOfARenamedSource(t *testing.T) {
	x := start(t, newPlace(t, renamed(recorded)))
	x.sold(lead(1, "utm_source", `"facebook"`))
	x.sold(lead(2, "source", `"facebook"`))
	x.sold(lead(3, "utm_source", `"facebook"`, "source", `"mail"`)) // its own name goes first
	x.sold(lead(4, "utm_medium", `"facebook"`))
	x.fromSource("facebook", 3, 4)
	x.reported("by=state&source=facebook", soldFor("36.15"))
	x.must(202, "POST", "/admin/v1/report/rebuild", "")
	x.fromSource("facebook", 3, 4)
	x.write(t, reporting(recorded))
	x = x.again()
	x.must(202, "POST", "/admin/v1/report/rebuild", "")
	x.fromSource("facebook", 3, 4)
}

// TestReportOfARenamedSourceOfAPing: what a ping says of it is the lead's too, which does
// not say it again.
func TestReportOfARenamedSourceOfAPing(t *testing.T) {
	x := start(t, newPlace(t, renamed(trading("ping_post", reference(t, "12.5")))))
	bid := x.seller("/v1/ping", "k1", `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"utm_source":"search"}`)
	if sale := x.postAt("theirs-1", bidToken(t, bid), 1); sale.status != 201 {
		t.Fatalf("%d %s", sale.status, sale.body)
	}
	x.fromSource("search", 1, 1)
	x.reported("source=search", func(rows []map[string]string) bool { return len(rows) == 1 && rows[0]["auctions"] == "1" })
}
