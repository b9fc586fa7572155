package exchange

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// conflictAnswer is a 409 with both versions.
type conflictAnswer struct {
	Error   string
	Message string
	Current *configEntry
	Sent    json.RawMessage
}

// TestStaleEntryChangeIsRejected: the answer has both versions, and the log has no new event.
func TestStaleEntryChangeIsRejected(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	const at = configURL + "buyers/buy_red"
	mine := `{"name":"mine","endpoint":"https://mine.example","auth":{"bearer":"a-canary-bearer"}}`
	x.putEntry("buyers/buy_red", redBuyer)
	first := x.configEntry("buyers/buy_red").ETag
	x.putEntry("buyers/buy_red", `{"name":"theirs"}`)
	seq, _ := x.log.LastEntry()
	for name, row := range map[string]struct{ method, body, header, value, current, sent string }{
		"a stale etag":              {"PUT", mine, "If-Match", `"` + first + `"`, "theirs", "mine"},
		"a stale etag, unquoted":    {"PUT", mine, "If-Match", first, "theirs", "mine"},
		"created twice":             {"PUT", mine, "If-None-Match", "*", "theirs", "mine"},
		"deleted with a stale etag": {"DELETE", "", "If-Match", first, "theirs", ""},
	} {
		a := x.adminRequest(row.method, at, row.body, row.header, row.value)
		got := decode[conflictAnswer](t, a)
		if a.status != 409 || got.Error != "conflict" || got.Current == nil || !strings.Contains(string(got.Current.Document), row.current) ||
			!strings.Contains(string(got.Sent), row.sent) || got.Current.ETag != x.configEntry("buyers/buy_red").ETag {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
	x.removeEntry("buyers/buy_red")
	if a := x.adminRequest("PUT", at, mine, "If-Match", first); a.status != 409 || decode[conflictAnswer](t, a).Current != nil {
		t.Errorf("after its deletion: got %d %s, want 409", a.status, a.body)
	}
	x.adminRequest("DELETE", at, "", "If-Match", first).mustFail(t, 404, "not_found")
	for _, headers := range [][]string{{}, {"If-Match", "*"}, {"If-Match", `""`}, {"If-None-Match", `"` + first + `"`}, {"If-Match", first, "If-None-Match", "*"}} {
		x.adminRequest("PUT", at, mine, headers...).mustFail(t, 422, "invalid_payload")
	}
	if n := x.countChangesAfter(seq); n != 1 {
		t.Errorf("got %d log entries", n)
	}
}

func TestConcurrentEntryChangesOneWins(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy_red", redBuyer)
	etag := x.configEntry("buyers/buy_red").ETag
	var all sync.WaitGroup
	statuses := make(chan int, 8)
	for i := range cap(statuses) {
		all.Go(func() {
			statuses <- x.adminRequest("PUT", configURL+"buyers/buy_red", `{"name":"`+strings.Repeat("n", i+1)+`"}`, "If-Match", etag).status
		})
	}
	all.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[200] != 1 || count[409] != cap(statuses)-1 {
		t.Errorf("got %v, want one 200 and otherwise 409", count)
	}
}

// TestFileEntriesAreReadOnly: the error names the file or document that owns the entry.
func TestFileEntriesAreReadOnly(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	mustBeReadOnly := func(at, owner string) {
		t.Helper()
		etag := x.configEntry(at).ETag
		for _, a := range []*answer{
			x.adminRequest("PUT", configURL+at, `{}`, "If-Match", etag), x.adminRequest("PUT", configURL+at, `{}`, "If-None-Match", "*"),
			x.adminRequest("DELETE", configURL+at, "", "If-Match", etag),
		} {
			if f := a.mustFail(t, 409, "conflict"); !strings.Contains(f.Message, owner) {
				t.Errorf("error does not name the owner of %s: %s", at, f.Message)
			}
		}
	}
	for _, at := range []string{"suppliers/sup_acme", "buyers/buy_blue", "campaigns/cmp"} {
		mustBeReadOnly(at, "exchange.yaml")
	}
	// A document from PUT owns its entries until the file is loaded again.
	x.putEntry("buyers/buy_red", `{"name":"made"}`)
	sent := strings.Replace(baseConfig, "buyers:\n", "buyers:\n  - {id: buy_red, name: sent}\n", 1)
	body := x.mustAdmin(200, "PUT", "/admin/v1/config", sent).body
	if !strings.Contains(body, `"~ buyers[buy_red]: created through the API -> owned by this document`) || !strings.Contains(body, `"~ buyers[buy_red].name: \"made\" -> \"sent\""`) {
		t.Errorf("unexpected answer to a document with an API entry: %v", body)
	}
	mustBeReadOnly("buyers/buy_red", "PUT /admin/v1/config")
	x.mustReload()
	if got := x.configEntry("buyers/buy_red"); got.Owner != "api" || !strings.Contains(string(got.Document), `"made"`) {
		t.Errorf("after a reload: %+v %s", got, got.Document)
	}
	// A file with the entry takes it over for good.
	x.reloadWith(sent)
	mustBeReadOnly("buyers/buy_red", "exchange.yaml")
	x.reloadWith(baseConfig)
	x.adminRequest("GET", configURL+"buyers/buy_red", "").mustFail(t, 404, "not_found")
}

// TestExportedDocumentIsComplete: the document of GET has the API's entries. Sent back, it changes
// only their owner.
func TestExportedDocumentIsComplete(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy_red", redBuyer)
	x.putEntry("campaigns/cmp_red", redCampaign)
	document := x.mustAdmin(200, "GET", "/admin/v1/config", "").body
	for _, change := range decode[configChanges](t, x.mustAdmin(200, "PUT", "/admin/v1/config", document)).Changes {
		if !strings.Contains(change, "created through the API") {
			t.Errorf("unexpected change: %v", change)
		}
	}
	x = x.restart()
	x.mustSell(redLead(1))
	if got := x.configEntry("buyers/buy_red"); got.Owner != "api" {
		t.Errorf("entry is not owned by the API: %+v", got)
	}
}

// TestReloadCannotDropReferencedEntry: a reload or start without a referenced buyer fails and names
// the reference.
func TestReloadCannotDropReferencedEntry(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("campaigns/cmp_red", strings.Replace(redCampaign, "buy_red", "buy_blue", 1))
	document := x.mustAdmin(200, "GET", "/admin/v1/config", "").body
	x.writeConfig(t, strings.ReplaceAll(baseConfig, "buy_blue", "buy_green"))
	const want = `campaigns[cmp_red].buyers[0].buyer: there is no buyer "buy_blue"`
	if err := x.ReloadConfiguration(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "through the API") {
		t.Errorf("Reload: %v", err)
	}
	a := x.adminRequest("PUT", "/admin/v1/config", strings.ReplaceAll(baseConfig, "buy_blue", "buy_green"))
	if f := a.mustFail(t, 422, "invalid_payload"); !strings.Contains(f.Message, "document: "+want) {
		t.Errorf("unexpected error: %v", f.Message)
	}
	if x.mustAdmin(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("the active document changed")
	}
	x.mustSell(redLead(1))
	x.stop()
	mustNotStart(t, x.testDir, want)
	x.writeConfig(t, baseConfig)
	start(t, x.testDir).mustSell(redLead(2))
}

// TestInvalidEntryErrors: an error names the place in the entry. The log has no new event.
func TestInvalidEntryErrors(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	seq, _ := x.log.LastEntry()
	for name, row := range map[string]struct{ at, body, field, expected string }{
		"an unknown key":                     {"buyers/buy_red", `{"unheard":"x"}`, "unheard", "unknown key"},
		"a wrong cap":                        {"buyers/buy_red", `{"caps":[{"per":"day","count":-1}]}`, "caps[0].count", "out of range"},
		"a wrong type":                       {"buyers/buy_red", `{"caps":[{"per":"day","count":"x"}]}`, "caps[0].count", "expected"},
		"another id":                         {"buyers/buy_red", `{"id":"buy_green"}`, "id", "differs from the id"},
		"invalid id":                         {"buyers/buy%20red", `{}`, "id", "is not an id"},
		"unknown buyer":                      {"campaigns/cmp_red", redCampaign, "buyers[0].buyer", `there is no buyer "buy_red"`},
		"a list's file":                      {"suppression_lists/dnc", `{"field":"phone","file":"/etc/passwd"}`, "file", "PUT /admin/v1/suppression/dnc"},
		"a secret without a value":           {"buyers/buy_red", `{"endpoint":"https://red.example","auth":{"bearer":{"set":true}}}`, "auth.bearer", "the exchange does not have it yet"},
		"no kind of auth":                    {"buyers/buy_red", `{"endpoint":"https://red.example","auth":{}}`, "auth", "exactly one"},
		"a webhook's secret without a value": {"suppliers/sup_red", `{"webhook":{"url":"https://red.example/","secret":{"set":true}}}`, "webhook.secret", "the exchange does not have it yet"},
		"a variable outside of secrets":      {"buyers/buy_red", `{"name":"${PASSWORD}"}`, "name", "only secrets"},
		"missing variable":                   {"suppliers/sup_red", `{"api_key":"${NOBODYS_KEY}"}`, "api_key", "NOBODYS_KEY"},
		"a client id used twice":             {"suppliers/sup_red", `{"oauth_clients":[{"client_id":"a","client_secret":"b"},{"client_id":"a","client_secret":"c"}]}`, "oauth_clients[1].client_id", "is the same as suppliers[sup_red].oauth_clients[0].client_id"},
	} {
		f := x.adminRequest("PUT", configURL+row.at, row.body, "If-None-Match", "*").mustFail(t, 422, "invalid_payload")
		if len(f.Fields) == 0 || f.Fields[0].Field != row.field || !strings.Contains(f.Fields[0].Expected, row.expected) {
			t.Errorf("unexpected field errors, %s: %+v", name, f.Fields)
		}
	}
	for _, body := range []string{``, `[]`, `null`, `{`, `"x"`} {
		x.adminRequest("PUT", configURL+"buyers/buy_red", body, "If-None-Match", "*").mustFail(t, 400, "malformed_json")
	}
	x.adminRequest("PUT", configURL+"buyers/buy_red", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`, "If-None-Match", "*").mustFail(t, 413, "payload_too_large")
	x.adminRequest("GET", configURL+"settings/x", "").mustFail(t, 404, "not_found")
	if a := x.adminRequest("PUT", configURL+"buyers/buy_red?dry=1", redBuyer, "If-None-Match", "*"); a.status != 200 || len(decode[entryChange](t, a).Changes) != 1 {
		t.Errorf("dry run: got %d %s, want 200 with one change", a.status, a.body)
	}
	if n := x.countChangesAfter(seq); n != 0 {
		t.Errorf("got %d log entries", n)
	}
}

// TestEntrySecretsAreSealedAndKept: secrets are stored encrypted or hashed, survive a restart, and
// stay if a change omits them.
func TestEntrySecretsAreSealedAndKept(t *testing.T) {
	t.Parallel()
	const key, token = "canary-key-of-red-0003", "canary-bearer-of-red"
	credentials := make(chan string, 10)
	buyer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credentials <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"status":"accepted"}`))
	}))
	defer buyer.Close()
	x := start(t, newTestDir(t, baseConfig))
	document := `{"endpoint":"` + buyer.URL + `","auth":{"bearer":"` + token + `"}}`
	x.putEntry("buyers/buy_red", document)
	x.putEntry("suppliers/sup_red", `{"ingest_rate":1000000,"api_key":"`+key+`"}`)
	x.putEntry("campaigns/cmp_red", redCampaign)
	sell := func(number int) {
		t.Helper()
		body := leadBody(number, "flo_campaign_id", `"cmp_red"`, "flo_supplier_id", `"sup_red"`)
		a := request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", body, "X-Api-Key", key, "Content-Type", jsonType)
		a.mustHave(t, 201, "ACCEPTED")
		select {
		case got := <-credentials:
			if got != "Bearer "+token {
				t.Errorf("buyer got the credential %q", got)
			}
		default:
			t.Error("buyer got no request")
		}
	}
	sell(1)
	x = x.restart()
	sell(2)
	x.putEntry("buyers/buy_red", `{"name":"Red","endpoint":"`+buyer.URL+`","auth":{}}`)
	x.putEntry("suppliers/sup_red", `{"name":"Red","ingest_rate":1000000}`)
	sell(3)
	changed := x.putEntry("buyers/buy_red", strings.Replace(document, token, "canary-another", 1))
	if len(changed.Unapplied) != 1 || !strings.Contains(changed.Unapplied[0], "buyers[buy_red].auth.bearer: first value only") {
		t.Errorf("unexpected ignored values: %+v", changed)
	}
	sell(4)
	checkNoFileContains(t, x.dir, token, key, "canary-another")
}
