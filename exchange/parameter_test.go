package exchange

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pingpost/api"
)

// asked is a GET of the admin address's document, and the parameters that it says its
// query has.
type asked struct {
	path string
	has  []string
}

// documented are all of them, and every name that any operation's query has.
func documented(t *testing.T) (gets []asked, names []string) {
	t.Helper()
	type parameter struct {
		Ref  string `yaml:"$ref"`
		Name string `yaml:"name"`
		In   string `yaml:"in"`
	}
	var document struct {
		Paths      map[string]map[string]struct{ Parameters []parameter }
		Components struct{ Parameters map[string]parameter }
	}
	if err := yaml.Unmarshal(api.AdminYAML(), &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			get := asked{path: path}
			for _, p := range operation.Parameters {
				if name, referred := strings.CutPrefix(p.Ref, "#/components/parameters/"); referred {
					p = document.Components.Parameters[name]
				}
				if p.In == "query" {
					get.has = append(get.has, p.Name)
				}
			}
			names = append(names, get.has...)
			if method == "get" {
				gets = append(gets, get)
			}
		}
	}
	slices.Sort(names)
	slices.SortFunc(gets, func(a, b asked) int { return strings.Compare(a.path, b.path) })
	return gets, slices.Compact(names)
}

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

// TestQueriesAreDescribed: each parameter that the document gives a GET of the admin
// address is read there, since the answer is another with a value that makes no sense;
// and of all those that others have, each is 422 where the document does not say so.
func TestQueriesAreDescribed(t *testing.T) {
	config := strings.Replace(trading("ping_post", reference(t, "12.5")), "    duplicates:", "    caps: [{per: day, count: 1000}]\n    duplicates:", 1)
	x := start(t, newPlace(t, reporting(strings.Replace(config, "    ingest_rate:", "    webhook: {url: \"http://127.0.0.1:9/hook\", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}\n    ingest_rate:", 1))))
	if bid := x.seller("/v1/ping", "k1", `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"source":"search"}`); bid.status != 200 {
		t.Fatalf("%d %s", bid.status, bid.body)
	}
	x.sold(lead(1, "source", `"search"`))
	x.reported("", func(rows []map[string]string) bool { return len(rows) > 0 && rows[0]["leads"] == "1" })
	gets, names := documented(t)
	if len(gets) < 30 || len(names) < 20 {
		t.Fatalf("%d GETs, and the names %q", len(gets), names)
	}
	for _, get := range gets {
		if get.path == "/admin/v1/live" || strings.HasPrefix(get.path, "/debug/pprof/") { // has no end; is Go's own
			continue
		}
		at, base := pathHere.Replace(get.path), needed[get.path]
		plain := x.operate("GET", at+"?"+base, "")
		for _, name := range names {
			query, err := url.ParseQuery(base)
			if err != nil {
				t.Fatal(err)
			}
			query.Set(name, "?")
			with := x.operate("GET", at+"?"+query.Encode(), "")
			same := with.status == plain.status
			if same && with.body != plain.body { // but of what changes by itself, that says nothing
				now := x.operate("GET", at+"?"+base, "")
				same, plain = now.body != plain.body, now
			}
			unknown := with.status == 422 && strings.Contains(with.body, `"code":"unknown_field"`)
			switch described := slices.Contains(get.has, name); {
			case described && (same || unknown):
				t.Errorf("GET %s: %s is described, and not read: %d %.200s", get.path, name, with.status, with.body)
			case !described && !unknown:
				t.Errorf("GET %s: %s is not described, and not rejected: %d %.200s", get.path, name, with.status, with.body)
			}
		}
	}
}
