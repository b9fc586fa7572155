package exchange

import (
	"encoding/json"
	"strings"
	"testing"
)

// item is an entry as GET gives it.
type item struct {
	ID, Owner, File, ETag string
	Paused                *bool
	Document              json.RawMessage
}

type itemChanged struct {
	ETag      string
	Changes   []string
	Unapplied []string
}

const configAt = "/admin/v1/config/"

// item gets an entry that must be there.
func (r *running) item(at string) item {
	r.t.Helper()
	a := r.must(200, "GET", configAt+at, "")
	got := decode[item](r.t, a)
	if a.header.Get("ETag") != `"`+got.ETag+`"` {
		r.t.Errorf("ETag %q, and %q in the body", a.header.Get("ETag"), got.ETag)
	}
	return got
}

// put makes an entry, or changes the one that there is.
func (r *running) put(at, document string) itemChanged {
	r.t.Helper()
	headers := []string{"If-None-Match", "*"}
	if now := r.operate("GET", configAt+at, ""); now.status == 200 {
		headers = []string{"If-Match", now.header.Get("ETag")}
	}
	a := r.operate("PUT", configAt+at, document, headers...)
	if a.status != 200 {
		r.t.Fatalf("PUT %s: %d %s", at, a.status, a.body)
	}
	return decode[itemChanged](r.t, a)
}

// remove takes an entry out.
func (r *running) remove(at string) *answer {
	r.t.Helper()
	return r.operate("DELETE", configAt+at, "", "If-Match", r.item(at).ETag)
}

const (
	redBuyer    = `{"states":["CA"]}`
	redCampaign = `{"method":"waterfall","duplicates":{"window":"0s"},"buyers":[{"buyer":"buy_red","price":3}]}`
)

// redLead is a lead for the campaign that was made through the API.
func redLead(number int) string { return lead(number, "flo_campaign_id", `"cmp_red"`) }

// TestItemsAreMadeAndSell: a buyer and a campaign that were made through the API sell
// from the answer on, over reloads and restarts, until they are removed.
func TestItemsAreMadeAndSell(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	made := x.put("buyers/buy_red", redBuyer)
	if len(made.Changes) != 1 || !strings.HasPrefix(made.Changes[0], "+ buyers[buy_red]: ") || made.ETag != x.item("buyers/buy_red").ETag {
		t.Errorf("%+v", made)
	}
	x.put("campaigns/cmp_red", redCampaign)
	x.sold(redLead(1))
	x.mustReload()
	x.sold(redLead(2))
	etag := x.item("campaigns/cmp_red").ETag
	x = x.again()
	x.sold(redLead(3))
	if got := x.item("campaigns/cmp_red"); got.Owner != "api" || got.File != "" || got.ETag != etag || got.Paused == nil || *got.Paused {
		t.Errorf("%+v", got)
	}
	if got := x.item("buyers/buy_blue"); got.Owner != "file" || got.File != "exchange.yaml" {
		t.Errorf("%+v", got)
	}
	a := x.remove("buyers/buy_red")
	if f := a.mustFail(t, 409, "conflict"); !strings.Contains(f.Message, "campaigns[cmp_red].buyers[0].buyer") {
		t.Errorf("it is not said what refers to it: %s", f.Message)
	}
	for _, at := range []string{"campaigns/cmp_red", "buyers/buy_red"} {
		if a := x.remove(at); a.status != 200 {
			t.Errorf("DELETE %s: %d %s", at, a.status, a.body)
		}
		x.operate("GET", configAt+at, "").mustFail(t, 404, "not_found")
	}
	if a := x.ingest(redLead(4)); a.status == 201 {
		t.Errorf("a campaign that is gone takes leads: %s", a.body)
	}
}
