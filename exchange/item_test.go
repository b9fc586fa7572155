package exchange

import (
	"encoding/json"
	"strings"
	"testing"
)

// configEntry is an entry in the answer of GET.
type configEntry struct {
	ID, Owner, File, ETag string
	Paused                *bool
	Document              json.RawMessage
}

type entryChange struct {
	ETag      string
	Changes   []string
	Unapplied []string
}

const configURL = "/admin/v1/config/"

// configEntry gets an entry.
func (r *testExchange) configEntry(at string) configEntry {
	r.t.Helper()
	a := r.mustAdmin(200, "GET", configURL+at, "")
	got := decode[configEntry](r.t, a)
	if a.header.Get("ETag") != `"`+got.ETag+`"` {
		r.t.Errorf("got ETag %q, and %q in the body", a.header.Get("ETag"), got.ETag)
	}
	return got
}

// putEntry creates or replaces an entry.
func (r *testExchange) putEntry(at, document string) entryChange {
	r.t.Helper()
	headers := []string{"If-None-Match", "*"}
	if now := r.adminRequest("GET", configURL+at, ""); now.status == 200 {
		headers = []string{"If-Match", now.header.Get("ETag")}
	}
	a := r.adminRequest("PUT", configURL+at, document, headers...)
	if a.status != 200 {
		r.t.Fatalf("PUT %s: got %d %s, want 200", at, a.status, a.body)
	}
	return decode[entryChange](r.t, a)
}

// removeEntry deletes an entry.
func (r *testExchange) removeEntry(at string) *answer {
	r.t.Helper()
	return r.adminRequest("DELETE", configURL+at, "", "If-Match", r.configEntry(at).ETag)
}

const (
	redBuyer    = `{"states":["CA"]}`
	redCampaign = `{"method":"waterfall","duplicates":{"window":"0s"},"buyers":[{"buyer":"buy_red","price":3}]}`
)

// redLead is a lead for the API's campaign.
func redLead(number int) string { return leadBody(number, "flo_campaign_id", `"cmp_red"`) }

// TestEntriesFromAPISell: a buyer and a campaign from the API sell at once, after reloads and
// restarts, until they are deleted.
func TestEntriesFromAPISell(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	created := x.putEntry("buyers/buy_red", redBuyer)
	if len(created.Changes) != 1 || !strings.HasPrefix(created.Changes[0], "+ buyers[buy_red]: ") || created.ETag != x.configEntry("buyers/buy_red").ETag {
		t.Errorf("unexpected answer to a new entry: %+v", created)
	}
	x.putEntry("campaigns/cmp_red", redCampaign)
	x.mustSell(redLead(1))
	x.mustReload()
	x.mustSell(redLead(2))
	etag := x.configEntry("campaigns/cmp_red").ETag
	x = x.restart()
	x.mustSell(redLead(3))
	if got := x.configEntry("campaigns/cmp_red"); got.Owner != "api" || got.File != "" || got.ETag != etag || got.Paused == nil || *got.Paused {
		t.Errorf("unexpected entry from the API: %+v", got)
	}
	if got := x.configEntry("buyers/buy_blue"); got.Owner != "file" || got.File != "exchange.yaml" {
		t.Errorf("unexpected entry from the file: %+v", got)
	}
	a := x.removeEntry("buyers/buy_red")
	if f := a.mustFail(t, 409, "conflict"); !strings.Contains(f.Message, "campaigns[cmp_red].buyers[0].buyer") {
		t.Errorf("error does not name the reference: %s", f.Message)
	}
	for _, at := range []string{"campaigns/cmp_red", "buyers/buy_red"} {
		if a := x.removeEntry(at); a.status != 200 {
			t.Errorf("DELETE %s: got %d %s, want 200", at, a.status, a.body)
		}
		x.adminRequest("GET", configURL+at, "").mustFail(t, 404, "not_found")
	}
	if a := x.ingest(redLead(4)); a.status == 201 {
		t.Errorf("a deleted campaign accepts leads: %s", a.body)
	}
}
