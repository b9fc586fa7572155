package exchange

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// found is a page of leads or auctions.
type found struct {
	Leads []struct {
		ID, Campaign, Supplier, Status, Delivery string
		Buyer, Reason, Currency, Auction, State  *string
		Price, Payout                            *json.Number
		Test                                     bool
	}
	Auctions []struct {
		ID, Campaign, Supplier         string
		Lead, Reason, Winner, Currency *string
		Amount                         *json.Number
		Asked                          int
	}
	Next     *string
	Complete bool
}

// search asks until the report has all that was logged.
func (r *running) search(query string) found {
	r.t.Helper()
	eventually(r.t, "the report has all", func() bool { return r.Report().ProgressStatus().LagEntries == 0 })
	return decode[found](r.t, r.must(200, "GET", "/admin/v1/"+query, ""))
}

// TestSearch: leads and auctions are found by what they are, page by page, with all that
// there is to tell of them.
func TestSearch(t *testing.T) {
	high, low := reference(t, "12.5"), reference(t, "9")
	x := start(t, newPlace(t, reporting(trading("ping_post", high, low))))
	ids := map[string]bool{}
	for i := range 5 {
		ids[x.sold(lead(i)).leadID()] = true
	}
	time.Sleep(2 * time.Millisecond) // ids of one millisecond have no order
	trial := x.ingest(lead(9), asTest...).leadID()
	query, pages := "leads?limit=2&buyer=buy_1&test=false", 0
	for after := ""; ; pages++ {
		f := x.search(query + after)
		for _, l := range f.Leads {
			if !ids[l.ID] || l.Campaign != "cmp" || l.Supplier != "sup_acme" || *l.Buyer != "buy_1" || l.Status != "ACCEPTED" || l.Delivery != "delivered" ||
				l.Reason != nil || *l.Price != "12.5" || *l.Payout != "10" || *l.Currency != "USD" || *l.State != "CA" || l.Auction == nil || l.Test {
				t.Errorf("%+v", l)
			}
			delete(ids, l.ID)
		}
		if !f.Complete {
			t.Error("there was no time for five leads")
		}
		if f.Next == nil {
			break
		}
		after = "&after=" + *f.Next
	}
	if len(ids) != 0 || pages != 2 {
		t.Errorf("%v were not found, on %d pages", ids, pages+1)
	}
	all := x.search("leads")
	if len(all.Leads) != 6 || all.Leads[0].ID != trial || !all.Leads[0].Test {
		t.Errorf("%+v", all.Leads)
	}
	for _, q := range []string{all.Leads[1].ID, *all.Leads[1].Auction} {
		if one := x.search("leads?q=" + q); len(one.Leads) != 1 || one.Leads[0].ID != all.Leads[1].ID {
			t.Errorf("%s: %+v", q, one.Leads)
		}
	}
	held := x.search("auctions?buyer=buy_2&outcome=lost&limit=3")
	if len(held.Auctions) != 3 || held.Next == nil || *held.Auctions[0].Winner != "buy_1" || *held.Auctions[0].Amount != "12.5" || held.Auctions[0].Asked != 2 || held.Auctions[0].Lead == nil {
		t.Errorf("%+v", held)
	}
	if none := x.search("auctions?buyer=buy_2&outcome=won"); len(none.Auctions) != 0 || none.Next != nil {
		t.Errorf("%+v", none)
	}
	past := x.search("leads?to=2020-01-01")
	if len(past.Leads) != 0 || !past.Complete {
		t.Errorf("%+v", past)
	}
}

// TestUnmatchedOfAnExchange: why leads were not sold, and by which campaign.
func TestUnmatchedOfAnExchange(t *testing.T) {
	x := start(t, newPlace(t, reporting(recorded)))
	x.sold(lead(1))
	x.ingest(lead(2, "state", `"TX"`))
	x.ingest(lead(3, "state", `"TX"`))
	eventually(t, "the report has all", func() bool { return x.Report().ProgressStatus().LagEntries == 0 })
	for query, want := range map[string]string{
		"":                    `{"leads":3,"unsold":2,"reasons":[{"reason":"no_state_match","leads":2}],"outcomes":[],"campaigns":[{"campaign":"cmp","leads":2}],"buyers":[]}`,
		"?campaign=cmp_other": `{"leads":0,"unsold":0,"reasons":[],"outcomes":[],"campaigns":[],"buyers":[]}`,
	} {
		if a := x.must(200, "GET", "/admin/v1/unmatched"+query, ""); strings.TrimSpace(a.body) != want {
			t.Errorf("%s: %s, want %s", query, a.body, want)
		}
	}
}

// TestReportQueriesAreChecked: the report, searches and bench examples name the member that has
// a wrong value. Without a report they are 404, and no folder is made.
func TestReportQueriesAreChecked(t *testing.T) {
	x := start(t, newPlace(t, reporting(recorded)))
	x.sold(lead(1))
	x.search("leads")
	for query, field := range map[string]string{
		"leads?q=ann": "q", "leads?limit=0": "limit", "leads?limit=501": "limit", "leads?limit=x": "limit", "leads?after=auc_00000000000000000000000000": "after",
		"leads?from=yesterday": "from", "leads?to=2026-13-01": "to", "leads?from=2026-02-01&to=2026-01-01": "to", "leads?test=perhaps": "test",
		"leads?buyer=nobody": "buyer", "leads?status=SOLD": "status", "leads?reason=luck": "reason", "leads?campaign=none": "campaign",
		"auctions?after=lead_00000000000000000000000000": "after", "auctions?outcome=luck": "outcome", "auctions?supplier=none": "supplier",
		"unmatched?from=x": "from", "unmatched?campaign=none": "campaign", "bench/example?campaign=none": "campaign", "bench/example": "campaign",
		"report?by=nonsense": "by", "report?by=buyer,buyer": "by", "report?zone=Mars/Olympus": "zone", "report?format=json": "format", "report?format=xlsx": "format",
		"report?from=yesterday": "from", "report?from=2026-11-30T12:07:00Z": "from", "report?from=2026-11-30&to=2026-11-30": "to", "report?buyer=nobody": "buyer", "report?reason=luck": "reason",
	} {
		answer := x.operate("GET", "/admin/v1/"+query, "")
		if answer.mustFail(t, 422, "invalid_payload"); !strings.Contains(answer.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", query, answer.body)
		}
	}
	off := start(t, newPlace(t, recorded))
	for _, what := range []string{"leads", "auctions", "unmatched", "report"} {
		a := off.operate("GET", "/admin/v1/"+what, "")
		if a.mustFail(t, 404, "not_found"); !strings.Contains(a.body, "keeps no report") {
			t.Error(a.body)
		}
		x.operate("POST", "/admin/v1/"+what, "").mustFail(t, 405, "method_not_allowed")
	}
	off.operate("POST", "/admin/v1/report/rebuild", "").mustFail(t, 404, "not_found")
	if _, err := os.Stat(filepath.Join(off.data(), "report")); err == nil {
		t.Error("an exchange that keeps no report has one")
	}
}

// TestSearchWhileTheFileIsRemoved: each answer is a page or says to ask again, and the
// lead is found in the end; the exchange takes leads meanwhile.
func TestSearchWhileTheFileIsRemoved(t *testing.T) {
	x := start(t, newPlace(t, reporting(recorded)))
	first := x.sold(lead(1)).leadID()
	x.search("leads")
	files, err := filepath.Glob(filepath.Join(x.data(), "report", "*.db*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		must.Succeed(t, os.Remove(file))
	}
	second := x.sold(lead(2)).leadID()
	for begun := time.Now(); ; {
		a := x.operate("GET", "/admin/v1/leads", "")
		if a.status == http.StatusOK && strings.Contains(a.body, first) && strings.Contains(a.body, second) {
			return
		}
		if a.status != http.StatusOK {
			a.mustFail(t, 503, "unavailable")
		}
		if time.Since(begun) > patience {
			t.Fatalf("it is not found again: %s", a.body)
		}
	}
}

// TestCapsOfAnExchange: the caps of all that have some, with what is used of them.
func TestCapsOfAnExchange(t *testing.T) {
	config := strings.Replace(recorded, "{id: buy_blue, states: [CA, NV]}", "{id: buy_blue, states: [CA, NV], caps: [{per: day, money: 100}]}", 1)
	config = strings.Replace(config, "price: 12.05}", "price: 12.05, caps: [{per: total, count: 5}]}", 1)
	config = strings.Replace(config, "  - id: cmp\n", "  - id: cmp\n    caps: [{per: hour, count: 7}]\n", 1)
	x := start(t, newPlace(t, config))
	x.sold(lead(1))
	x.sold(lead(2))
	said := func(query string) (lines []string) {
		for _, c := range decode[struct {
			Caps []struct {
				Of, Per, Unit     string
				Limit, Used, Held json.Number
				From, Until       *time.Time
			}
		}](t, x.must(200, "GET", "/admin/v1/caps"+query, "")).Caps {
			if (c.From == nil) != (c.Per == "total") || c.From != nil && !c.From.Before(*c.Until) {
				t.Errorf("from %v until %v", c.From, c.Until)
			}
			lines = append(lines, fmt.Sprint(c.Of, " ", c.Per, " ", c.Used, "+", c.Held, "/", c.Limit, " ", c.Unit))
		}
		return lines
	}
	campaign, seat, buyer := "campaign hour 2+0/7 count", "seat total 2+0/5 count", "buyer day 24.1+0/100 money"
	for query, want := range map[string][]string{
		"": {campaign, seat, buyer}, "?campaign=cmp": {campaign, seat, buyer}, "?campaign=cmp_other": {buyer}, "?buyer=buy_blue": {campaign, seat, buyer},
		"?buyer=nobody": nil, "?campaign=none": nil,
	} {
		if got := said(query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestBench: a made-up lead goes through as a test, what is wrong with one is told as its
// supplier would be told, and nothing of it counts.
func TestBench(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	a := x.must(200, "GET", "/admin/v1/bench/example?campaign=cmp", "")
	example := strings.TrimSpace(a.body)
	var sent struct {
		Campaign, Supplier string
		Lead               map[string]any
	}
	if err := json.Unmarshal([]byte(example), &sent); err != nil || sent.Campaign != "cmp" || sent.Supplier != "sup_acme" || sent.Lead["state"] != "CA" && sent.Lead["state"] != "NV" {
		t.Fatal(err, example)
	}
	a = x.must(200, "POST", "/admin/v1/bench", example)
	var told struct {
		Status int
		Answer struct {
			Data struct{ ID, Status string }
			fault
		}
		Lead *string
	}
	if err := json.Unmarshal([]byte(a.body), &told); err != nil || told.Status != 201 || told.Answer.Data.Status != "ACCEPTED" || *told.Lead != told.Answer.Data.ID {
		t.Fatal(err, a.body)
	}
	x.operate("GET", "/admin/v1/explain/"+*told.Lead, "").mustHave(t, 200, `"test":true`)
	told.Lead = nil
	a = x.must(200, "POST", "/admin/v1/bench", `{"campaign":"cmp","supplier":"sup_acme","lead":{"phone":"1"},"consent":{"tcpa_consent":true}}`)
	if err := json.Unmarshal([]byte(a.body), &told); err != nil || told.Status != 422 || told.Lead != nil || told.Answer.Error != "invalid_payload" || len(told.Answer.Fields) < 3 {
		t.Error(err, a.body)
	}
	for body, field := range map[string]string{
		`{}`: "lead", `{"campaign":"cmp","supplier":"nobody","lead":{}}`: "supplier", `{"supplier":"sup_acme","lead":{}}`: "campaign",
		`{"campaign":"cmp","supplier":"sup_acme","lead":[]}`: "lead", `{"campaign":"cmp","supplier":"sup_acme","lead":{},"consent":1}`: "consent",
	} {
		if a := x.operate("POST", "/admin/v1/bench", body); !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", body, a.body)
		} else {
			a.mustFail(t, 422, "invalid_payload")
		}
	}
	x.operate("POST", "/admin/v1/bench", "null").mustFail(t, 400, "malformed_json")
}

// TestExamplePassesFilters: the made-up lead has what a campaign requires beside what all
// leads have, and passes its filters, of each kind and on fields of each type.
func TestExamplePassesFilters(t *testing.T) {
	config := strings.Replace(recorded, "    payout: {share: 0.8}\n", `    payout: {share: 0.8}
    unknown: reject
    vertical: auto
    fields:
      - {name: roof_age, type: integer, max: 40, required: true}
      - {name: shape, type: enum, values: [gable, hip], required: true}
      - {name: vehicle_count, type: string, required: true}
      - {name: score, type: number}
      - {name: roof, type: enum, values: [flat, shingle, tile]}
      - {name: owner, type: boolean}
      - {name: utm_source, type: string, to: source}
      - {name: plan, type: string}
    filters:
      - {field: state, not_in: [CA, TX]}
      - {field: roof_age, min: 5.5, max: 9}
      - {field: score, min: 0.5, max: 0.75}
      - {field: score, not_in: ["0.5"]}
      - {field: roof, not_in: [flat]}
      - {field: owner, in: ["false"]}
      - {field: source, in: [facebook]}
      - {field: plan, absent: true}
      - {field: ai_quality_score, min: 0.95}
      - {field: zip, absent: true}
`, 1)
	x := start(t, newPlace(t, config))
	for range 20 { // its chance is drawn anew each time
		example := x.must(200, "GET", "/admin/v1/bench/example?campaign=cmp", "").body
		if a := x.must(200, "POST", "/admin/v1/bench", example); !strings.Contains(a.body, `"status":"ACCEPTED"`) {
			t.Fatalf("%s for %s", a.body, example)
		}
	}
}
