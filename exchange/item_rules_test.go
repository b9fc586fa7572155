package exchange

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// conflict is an answer of 409 with both versions.
type conflict struct {
	Error   string
	Message string
	Current *item
	Sent    json.RawMessage
}

// TestTwoOperators: who changes what another has changed meanwhile gets both versions,
// and changes nothing.
func TestTwoOperators(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	const at = configAt + "buyers/buy_red"
	mine := `{"name":"mine","endpoint":"https://mine.example","auth":{"bearer":"a-canary-bearer"}}`
	x.put("buyers/buy_red", redBuyer)
	first := x.item("buyers/buy_red").ETag
	x.put("buyers/buy_red", `{"name":"theirs"}`)
	seq, _ := x.log.Durable()
	for name, row := range map[string]struct{ method, body, header, value, current, sent string }{
		"a stale etag":           {"PUT", mine, "If-Match", `"` + first + `"`, "theirs", "mine"},
		"a stale etag, unquoted": {"PUT", mine, "If-Match", first, "theirs", "mine"},
		"made twice":             {"PUT", mine, "If-None-Match", "*", "theirs", "mine"},
		"removed by a stale one": {"DELETE", "", "If-Match", first, "theirs", ""},
	} {
		a := x.operate(row.method, at, row.body, row.header, row.value)
		got := decode[conflict](t, a)
		if a.status != 409 || got.Error != "conflict" || got.Current == nil || !strings.Contains(string(got.Current.Document), row.current) ||
			!strings.Contains(string(got.Sent), row.sent) || got.Current.ETag != x.item("buyers/buy_red").ETag {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	x.remove("buyers/buy_red")
	if a := x.operate("PUT", at, mine, "If-Match", first); a.status != 409 || decode[conflict](t, a).Current != nil {
		t.Errorf("after it was removed: %d %s", a.status, a.body)
	}
	x.operate("DELETE", at, "", "If-Match", first).mustFail(t, 404, "not_found")
	for _, headers := range [][]string{{}, {"If-Match", "*"}, {"If-Match", `""`}, {"If-None-Match", `"` + first + `"`}, {"If-Match", first, "If-None-Match", "*"}} {
		x.operate("PUT", at, mine, headers...).mustFail(t, 422, "invalid_payload")
	}
	if after, _ := x.log.Durable(); after != seq+1 {
		t.Errorf("%d entries were logged", after-seq)
	}
}

// TestOneOfManyOperatorsIsFirst: of all who change the same version one does.
func TestOneOfManyOperatorsIsFirst(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.put("buyers/buy_red", redBuyer)
	etag := x.item("buyers/buy_red").ETag
	var all sync.WaitGroup
	statuses := make(chan int, 8)
	for i := range cap(statuses) {
		all.Go(func() {
			statuses <- x.operate("PUT", configAt+"buyers/buy_red", `{"name":"`+strings.Repeat("n", i+1)+`"}`, "If-Match", etag).status
		})
	}
	all.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[200] != 1 || count[409] != cap(statuses)-1 {
		t.Errorf("%v", count)
	}
}

// TestWhatAFileOwnsIsReadOnly: it says which file, and what a sent document has.
func TestWhatAFileOwnsIsReadOnly(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	refused := func(at, named string) {
		t.Helper()
		etag := x.item(at).ETag
		for _, a := range []*answer{
			x.operate("PUT", configAt+at, `{}`, "If-Match", etag), x.operate("PUT", configAt+at, `{}`, "If-None-Match", "*"),
			x.operate("DELETE", configAt+at, "", "If-Match", etag),
		} {
			if f := a.mustFail(t, 409, "conflict"); !strings.Contains(f.Message, named) {
				t.Errorf("%s: %s", at, f.Message)
			}
		}
	}
	for _, at := range []string{"suppliers/sup_acme", "buyers/buy_blue", "campaigns/cmp"} {
		refused(at, "exchange.yaml")
	}
	// A document that is sent has the word on what was made, until the file has it again.
	x.put("buyers/buy_red", `{"name":"made"}`)
	sent := strings.Replace(recorded, "buyers:\n", "buyers:\n  - {id: buy_red, name: sent}\n", 1)
	said := x.must(200, "PUT", "/admin/v1/config", sent).body
	if !strings.Contains(said, `"~ buyers[buy_red]: created through the API -> owned by this document`) || !strings.Contains(said, `"~ buyers[buy_red].name: \"made\" -> \"sent\""`) {
		t.Error(said)
	}
	refused("buyers/buy_red", "PUT /admin/v1/config")
	x.mustReload()
	if got := x.item("buyers/buy_red"); got.Owner != "api" || !strings.Contains(string(got.Document), `"made"`) {
		t.Errorf("after a reload: %+v %s", got, got.Document)
	}
	// The file that has it takes it over for good.
	x.reloadWith(sent)
	refused("buyers/buy_red", "exchange.yaml")
	x.reloadWith(recorded)
	x.operate("GET", configAt+"buyers/buy_red", "").mustFail(t, 404, "not_found")
}

// TestExportedIsTheWhole: the document that GET gives has what was made; sent back it
// changes nothing but who has the word.
func TestExportedIsTheWhole(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.put("buyers/buy_red", redBuyer)
	x.put("campaigns/cmp_red", redCampaign)
	document := x.must(200, "GET", "/admin/v1/config", "").body
	for _, change := range decode[changes](t, x.must(200, "PUT", "/admin/v1/config", document)).Changes {
		if !strings.Contains(change, "created through the API") {
			t.Error(change)
		}
	}
	x = x.again()
	x.sold(redLead(1))
	if got := x.item("buyers/buy_red"); got.Owner != "api" {
		t.Errorf("%+v", got)
	}
}

// TestReloadThatAnEntryNeeds: a file that drops what an entry refers to is refused, at
// a reload and at a start, and says which entry that is.
func TestReloadThatAnEntryNeeds(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.put("campaigns/cmp_red", strings.Replace(redCampaign, "buy_red", "buy_blue", 1))
	document := x.must(200, "GET", "/admin/v1/config", "").body
	x.write(t, strings.ReplaceAll(recorded, "buy_blue", "buy_green"))
	const want = `campaigns[cmp_red].buyers[0].buyer: there is no buyer "buy_blue"`
	if err := x.ReloadConfiguration(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "through the API") {
		t.Errorf("Reload: %v", err)
	}
	a := x.operate("PUT", "/admin/v1/config", strings.ReplaceAll(recorded, "buy_blue", "buy_green"))
	if f := a.mustFail(t, 422, "invalid_payload"); !strings.Contains(f.Message, "document: "+want) {
		t.Error(f.Message)
	}
	if x.must(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("something came into force")
	}
	x.sold(redLead(1))
	x.stop()
	refuses(t, x.place, want)
	x.write(t, recorded)
	start(t, x.place).sold(redLead(2))
}

// TestMistakesOfAnItem are told by their places in it, as validate has them, and change
// nothing.
func TestMistakesOfAnItem(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	seq, _ := x.log.Durable()
	for name, row := range map[string]struct{ at, body, field, expected string }{
		"an unknown key":      {"buyers/buy_red", `{"unheard":"x"}`, "unheard", "unknown key"},
		"a wrong cap":         {"buyers/buy_red", `{"caps":[{"per":"day","count":-1}]}`, "caps[0].count", "out of range"},
		"a wrong type":        {"buyers/buy_red", `{"caps":[{"per":"day","count":"x"}]}`, "caps[0].count", "expected"},
		"another's id":        {"buyers/buy_red", `{"id":"buy_green"}`, "id", "differs from the id"},
		"no id":               {"buyers/buy%20red", `{}`, "id", "is not an id"},
		"no such buyer":       {"campaigns/cmp_red", redCampaign, "buyers[0].buyer", `there is no buyer "buy_red"`},
		"a list's file":       {"suppression_lists/dnc", `{"field":"phone","file":"/etc/passwd"}`, "file", "PUT /admin/v1/suppression/dnc"},
		"a secret not known":  {"buyers/buy_red", `{"endpoint":"https://red.example","auth":{"bearer":{"set":true}}}`, "auth.bearer", "the exchange does not have it yet"},
		"no form of auth":     {"buyers/buy_red", `{"endpoint":"https://red.example","auth":{}}`, "auth", "exactly one"},
		"a webhook's secret":  {"suppliers/sup_red", `{"webhook":{"url":"https://red.example/","secret":{"set":true}}}`, "webhook.secret", "the exchange does not have it yet"},
		"the environment":     {"buyers/buy_red", `{"name":"${PASSWORD}"}`, "name", "only secrets"},
		"no such variable":    {"suppliers/sup_red", `{"api_key":"${NOBODYS_KEY}"}`, "api_key", "NOBODYS_KEY"},
		"a key that is taken": {"suppliers/sup_red", `{"oauth_clients":[{"client_id":"a","client_secret":"b"},{"client_id":"a","client_secret":"c"}]}`, "oauth_clients[1].client_id", "is the same as suppliers[sup_red].oauth_clients[0].client_id"},
	} {
		f := x.operate("PUT", configAt+row.at, row.body, "If-None-Match", "*").mustFail(t, 422, "invalid_payload")
		if len(f.Fields) == 0 || f.Fields[0].Field != row.field || !strings.Contains(f.Fields[0].Expected, row.expected) {
			t.Errorf("%s: %+v", name, f.Fields)
		}
	}
	for _, body := range []string{``, `[]`, `null`, `{`, `"x"`} {
		x.operate("PUT", configAt+"buyers/buy_red", body, "If-None-Match", "*").mustFail(t, 400, "malformed_json")
	}
	x.operate("PUT", configAt+"buyers/buy_red", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`, "If-None-Match", "*").mustFail(t, 413, "payload_too_large")
	x.operate("GET", configAt+"settings/x", "").mustFail(t, 404, "not_found")
	if a := x.operate("PUT", configAt+"buyers/buy_red?dry=1", redBuyer, "If-None-Match", "*"); a.status != 200 || len(decode[itemChanged](t, a).Changes) != 1 {
		t.Errorf("dry: %d %s", a.status, a.body)
	}
	if after, _ := x.log.Durable(); after != seq {
		t.Errorf("%d entries were logged", after-seq)
	}
}

// TestSecretsOfAnItem: they are kept sealed or hashed and nowhere else, a restart needs
// none of them, and a change that leaves them out keeps them.
func TestSecretsOfAnItem(t *testing.T) {
	const key, token = "canary-key-of-red-0003", "canary-bearer-of-red"
	shown := make(chan string, 10)
	buyer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"status":"accepted"}`))
	}))
	defer buyer.Close()
	x := start(t, newPlace(t, recorded))
	document := `{"endpoint":"` + buyer.URL + `","auth":{"bearer":"` + token + `"}}`
	x.put("buyers/buy_red", document)
	x.put("suppliers/sup_red", `{"ingest_rate":1000000,"api_key":"`+key+`"}`)
	x.put("campaigns/cmp_red", redCampaign)
	sells := func(number int) {
		t.Helper()
		body := lead(number, "flo_campaign_id", `"cmp_red"`, "flo_supplier_id", `"sup_red"`)
		a := request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", body, "X-Api-Key", key, "Content-Type", typeIsOwn)
		a.mustHave(t, 201, "ACCEPTED")
		select {
		case got := <-shown:
			if got != "Bearer "+token {
				t.Errorf("the buyer was shown %q", got)
			}
		default:
			t.Error("the buyer was asked nothing")
		}
	}
	sells(1)
	x = x.again()
	sells(2)
	x.put("buyers/buy_red", `{"name":"Red","endpoint":"`+buyer.URL+`","auth":{}}`)
	x.put("suppliers/sup_red", `{"name":"Red","ingest_rate":1000000}`)
	sells(3)
	changed := x.put("buyers/buy_red", strings.Replace(document, token, "canary-another", 1))
	if len(changed.Unapplied) != 1 || !strings.Contains(changed.Unapplied[0], "buyers[buy_red].auth.bearer: first value only") {
		t.Errorf("%+v", changed)
	}
	sells(4)
	hasNone(t, x.dir, token, key, "canary-another")
}
