package exchange

import (
	"net/url"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// What each path's parts are here, and what a path needs to be asked at all.
var (
	pathHere = strings.NewReplacer(
		"suppliers/{id}", "suppliers/sup_acme", "buyers/{id}", "buyers/buy_1", "campaigns/{id}", "campaigns/cmp",
		"webhooks/{id}", "webhooks/sup_acme", "explain/{id}", "explain/theirs-1",
	)
	needed = map[string]string{
		"/admin/v1/statement": "buyer=buy_1", "/admin/v1/explain": "id=theirs-1", "/admin/v1/bench/example": "campaign=cmp",
	}
)

// TestDescribedQueriesAreRead: a GET of the admin address reads each parameter that the document
// describes, because a value without sense changes its answer. The admin server's tests prove
// that it rejects every other parameter.
func TestDescribedQueriesAreRead(t *testing.T) {
	config := strings.Replace(trading("ping_post", reference(t, "12.5")), "    duplicates:", "    caps: [{per: day, count: 1000}]\n    duplicates:", 1)
	x := start(t, newPlace(t, reporting(strings.Replace(config, "    ingest_rate:", "    webhook: {url: \"http://127.0.0.1:9/hook\", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}\n    ingest_rate:", 1))))
	if bid := x.seller("/v1/ping", "k1", `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"source":"search"}`); bid.status != 200 {
		t.Fatalf("%d %s", bid.status, bid.body)
	}
	x.sold(lead(1, "source", `"search"`))
	x.reported("", func(rows []map[string]string) bool { return len(rows) > 0 && rows[0]["leads"] == "1" })
	seen := 0
	for operation, names := range servertest.QueryParameters(t, api.AdminYAML()) {
		path, isGet := strings.CutPrefix(operation, "GET ")
		if !isGet || path == "/admin/v1/live" || strings.HasPrefix(path, "/debug/pprof/") { // has no end; is Go's own
			continue
		}
		at, base := pathHere.Replace(path), needed[path]
		plain := x.operate("GET", at+"?"+base, "")
		for _, name := range names {
			seen++
			query := must.Value(url.ParseQuery(base))(t)
			query.Set(name, "?")
			with := x.operate("GET", at+"?"+query.Encode(), "")
			same := with.status == plain.status
			if same && with.body != plain.body { // but of what changes by itself, that says nothing
				now := x.operate("GET", at+"?"+base, "")
				same, plain = now.body != plain.body, now
			}
			if same || strings.Contains(with.body, `"code":"unknown_field"`) {
				t.Errorf("GET %s: %s is described, and not read: %d %.200s", path, name, with.status, with.body)
			}
		}
	}
	if seen < 40 {
		t.Errorf("the document describes %d parameters of GETs", seen)
	}
}
