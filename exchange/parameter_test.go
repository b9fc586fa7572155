package exchange

import (
	"net/url"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/internal/must"
	"pingpost/server/admin/oidc"
	"pingpost/server/servertest"
)

// Values of the path parameters, and queries that a path requires.
var (
	pathParameters = strings.NewReplacer(
		"suppliers/{id}", "suppliers/sup_acme", "buyers/{id}", "buyers/buy_1", "campaigns/{id}", "campaigns/cmp",
		"webhooks/{id}", "webhooks/sup_acme", "explain/{id}", "explain/theirs-1",
	)
	requiredQuery = map[string]string{
		"/admin/v1/statement": "buyer=buy_1", "/admin/v1/explain": "id=theirs-1", "/admin/v1/bench/example": "campaign=cmp",
		"/admin/v1/campaigns/{id}/instructions": "supplier=sup_acme",
	}
)

// TestDocumentedQueryParametersAreRead: an invalid value of each documented parameter of a GET
// changes the answer. The admin server's tests prove that it rejects other parameters.
func TestDocumentedQueryParametersAreRead(t *testing.T) {
	t.Parallel()
	config := strings.Replace(referenceConfig("ping_post", startReferenceBuyer(t, "12.5")), "    duplicates:", "    caps: [{per: day, count: 1000}]\n    duplicates:", 1)
	x := start(t, newTestDir(t, reportConfig(strings.Replace(config, "    ingest_rate:", "    webhook: {url: \"http://127.0.0.1:9/hook\", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}\n    ingest_rate:", 1))))
	if bid := x.sellerRequest("/v1/ping", "k1", `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"source":"search"}`); bid.status != 200 {
		t.Fatalf("ping: got %d %s", bid.status, bid.body)
	}
	x.mustSell(leadBody(1, "source", `"search"`))
	x.waitForReport("", func(rows []map[string]string) bool { return len(rows) > 0 && rows[0]["leads"] == "1" })
	seen := 0
	for operation, names := range servertest.QueryParameters(t, api.AdminYAML()) {
		path, isGet := strings.CutPrefix(operation, "GET ")
		if !isGet || path == "/admin/v1/live" || path == oidc.PathCallback || strings.HasPrefix(path, "/debug/pprof/") { // a stream, a redirect, and Go's own paths
			continue
		}
		at, base := pathParameters.Replace(path), requiredQuery[path]
		plain := x.adminRequest("GET", at+"?"+base, "")
		for _, name := range names {
			seen++
			query := must.Value(url.ParseQuery(base))(t)
			query.Set(name, "?")
			with := x.adminRequest("GET", at+"?"+query.Encode(), "")
			same := with.status == plain.status
			if same && with.body != plain.body { // unless the answer changes by itself
				now := x.adminRequest("GET", at+"?"+base, "")
				same, plain = now.body != plain.body, now
			}
			if same || strings.Contains(with.body, `"code":"unknown_field"`) {
				t.Errorf("GET %s ignores the documented parameter %s: %d %.200s", path, name, with.status, with.body)
			}
		}
	}
	if seen < 40 {
		t.Errorf("the document has only %d parameters of GETs", seen)
	}
}
