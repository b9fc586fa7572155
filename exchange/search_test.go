package exchange

import (
	"cmp"
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

// searchPage is a page of leads or auctions.
type searchPage struct {
	Leads []struct {
		ID, Campaign, Supplier, Status, Delivery string
		Buyer, Reason, Currency, Auction, State  *string
		Price, Payout                            *json.Number
		Test                                     bool
	}
	Auctions []struct {
		ID, Campaign, Supplier         string
		Lead, Reason, Winner, Currency *string
		SoldTo                         *string `json:"sold_to"`
		Status, Delivery               *string
		Amount, Price                  *json.Number
		Asked                          int
	}
	Next     *string
	Complete bool
}

// search searches until the answer is complete. That takes several requests only while the report is
// opened or rebuilt, or if it needs longer than a request waits for it.
func (r *testExchange) search(query string) (page searchPage) {
	r.t.Helper()
	eventually(r.t, "the search is complete", func() bool {
		answer := r.adminRequest("GET", "/admin/v1/"+query, "")
		if answer.status == http.StatusServiceUnavailable {
			return false
		}
		answer.mustHave(r.t, 200, "")
		page = decode[searchPage](r.t, answer)
		return page.Complete
	})
	return page
}

// TestSearchLeadsAndAuctions: filters, pages, and all columns of the result.
func TestSearchLeadsAndAuctions(t *testing.T) {
	t.Parallel()
	high, low := startReferenceBuyer(t, "12.5"), startReferenceBuyer(t, "9")
	x := start(t, newTestDir(t, reportConfig(referenceConfig("ping_post", high, low))))
	ids := map[string]bool{}
	for i := range 5 {
		ids[x.mustSell(leadBody(i)).leadID()] = true
	}
	time.Sleep(2 * time.Millisecond) // ids of one millisecond have no order
	testLead := x.ingest(leadBody(9), testHeader...).leadID()
	query, pages := "leads?limit=2&buyer=buy_1&test=false", 0
	for after := ""; ; pages++ {
		f := x.search(query + after)
		for _, l := range f.Leads {
			if !ids[l.ID] || l.Campaign != "cmp" || l.Supplier != "sup_acme" || *l.Buyer != "buy_1" || l.Status != "ACCEPTED" || l.Delivery != "delivered" ||
				l.Reason != nil || *l.Price != "12.5" || *l.Payout != "10" || *l.Currency != "USD" || *l.State != "CA" || l.Auction == nil || l.Test {
				t.Errorf("unexpected lead: %+v", l)
			}
			delete(ids, l.ID)
		}
		if f.Next == nil {
			break
		}
		after = "&after=" + *f.Next
	}
	if len(ids) != 0 || pages != 2 {
		t.Errorf("leads %v were not found on %d pages, want all on 3", ids, pages+1)
	}
	all := x.search("leads")
	if len(all.Leads) != 6 || all.Leads[0].ID != testLead || !all.Leads[0].Test {
		t.Errorf("unexpected leads without a filter: %+v", all.Leads)
	}
	for _, q := range []string{all.Leads[1].ID, *all.Leads[1].Auction} {
		if one := x.search("leads?q=" + q); len(one.Leads) != 1 || one.Leads[0].ID != all.Leads[1].ID {
			t.Errorf("search for %s: %+v", q, one.Leads)
		}
	}
	lost := x.search("auctions?buyer=buy_2&outcome=lost&limit=3")
	if len(lost.Auctions) != 3 || lost.Next == nil || *lost.Auctions[0].Winner != "buy_1" || *lost.Auctions[0].Amount != "12.5" || lost.Auctions[0].Asked != 2 || lost.Auctions[0].Lead == nil {
		t.Errorf("unexpected lost auctions: %+v", lost)
	}
	if a := lost.Auctions[0]; *a.SoldTo != "buy_1" || *a.Price != "12.5" || *a.Status != "ACCEPTED" || *a.Delivery != "delivered" {
		t.Errorf("unexpected sale of an auction: %+v", a)
	}
	if none := x.search("auctions?buyer=buy_2&outcome=won"); len(none.Auctions) != 0 || none.Next != nil {
		t.Errorf("unexpected won auctions: %+v", none)
	}
	past := x.search("leads?to=2020-01-01")
	if len(past.Leads) != 0 {
		t.Errorf("unexpected leads before 2020: %+v", past)
	}
}

// TestSearchFindsTheLeadOfTheMomentBefore: a search right after an ingest has the lead, without any
// waiting on the client's side. Where the report could not read it in time, the answer says so.
func TestSearchFindsTheLeadOfTheMomentBefore(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	x.waitForAllLogEntries()
	complete := 0
	for i := range 20 {
		x.mustSell(leadBody(i))
		page := decode[searchPage](t, x.mustAdmin(200, "GET", "/admin/v1/leads", ""))
		if page.Complete {
			complete++
		}
		if page.Complete && len(page.Leads) != i+1 {
			t.Errorf("the complete answer has %d leads after lead %d", len(page.Leads), i+1)
		}
	}
	if complete == 0 {
		t.Error("no search had the newest lead")
	}
}

func TestUnmatchedLeadsReport(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	x.mustSell(leadBody(1))
	x.ingest(leadBody(2, "state", `"TX"`))
	x.ingest(leadBody(3, "state", `"TX"`))
	x.waitForAllLogEntries()
	for query, want := range map[string]string{
		"":                    `{"leads":3,"unsold":2,"reasons":[{"reason":"no_state_match","leads":2}],"outcomes":[],"campaigns":[{"campaign":"cmp","leads":2}],"buyers":[]}`,
		"?campaign=cmp_other": `{"leads":0,"unsold":0,"reasons":[],"outcomes":[],"campaigns":[],"buyers":[]}`,
	} {
		if a := x.mustAdmin(200, "GET", "/admin/v1/unmatched"+query, ""); strings.TrimSpace(a.body) != want {
			t.Errorf("%s: %s, want %s", query, a.body, want)
		}
	}
}

// TestInvalidReportQueries: the error names the parameter with a wrong value. Without a report the
// answer is 404, and no folder is created.
func TestInvalidReportQueries(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	x.mustSell(leadBody(1))
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
		answer := x.adminRequest("GET", "/admin/v1/"+query, "")
		if answer.mustFail(t, 422, "invalid_payload"); !strings.Contains(answer.body, `"field":"`+field+`"`) {
			t.Errorf("error of %s: %s", query, answer.body)
		}
	}
	off := start(t, newTestDir(t, baseConfig))
	for _, path := range []string{"leads", "auctions", "unmatched", "report"} {
		a := off.adminRequest("GET", "/admin/v1/"+path, "")
		if a.mustFail(t, 404, "not_found"); !strings.Contains(a.body, "keeps no report") {
			t.Errorf("unexpected error without a report: %v", a.body)
		}
		x.adminRequest("POST", "/admin/v1/"+path, "").mustFail(t, 405, "method_not_allowed")
	}
	off.adminRequest("POST", "/admin/v1/report/rebuild", "").mustFail(t, 404, "not_found")
	if _, err := os.Stat(filepath.Join(off.dataDir(), "report")); err == nil {
		t.Error("an exchange without a report created its folder")
	}
}

// TestSearchRecoversFromRemovedReport: each answer is a page or a 503, and the lead is found in the
// end. The exchange accepts leads meanwhile.
func TestSearchRecoversFromRemovedReport(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	first := x.mustSell(leadBody(1)).leadID()
	x.search("leads")
	files, err := filepath.Glob(filepath.Join(x.dataDir(), "report", "*.db*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("unexpected report files: %v, %v", files, err)
	}
	for _, file := range files {
		must.Succeed(t, os.Remove(file))
	}
	second := x.mustSell(leadBody(2)).leadID()
	for begun := time.Now(); ; {
		a := x.adminRequest("GET", "/admin/v1/leads", "")
		if a.status == http.StatusOK && strings.Contains(a.body, first) && strings.Contains(a.body, second) {
			return
		}
		if a.status != http.StatusOK {
			a.mustFail(t, 503, "unavailable")
		}
		if time.Since(begun) > waitTimeout {
			t.Fatalf("lead is not found again: %s", a.body)
		}
	}
}

func TestCapUsage(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "{id: buy_blue, states: [CA, NV]}", "{id: buy_blue, states: [CA, NV], caps: [{per: day, money: 100}]}", 1)
	config = strings.Replace(config, "price: 12.05}", "price: 12.05, caps: [{per: total, count: 5}]}", 1)
	config = strings.Replace(config, "  - id: cmp\n", "  - id: cmp\n    caps: [{per: hour, count: 7}]\n    terms: [{id: social, sources: [facebook]}, {id: rest, caps: [{per: week, count: 3}]}]\n", 1)
	x := start(t, newTestDir(t, config))
	x.mustSell(leadBody(1))
	x.mustSell(leadBody(2))
	capLines := func(query string) (lines []string) {
		for _, c := range decode[struct {
			Caps []struct {
				Of, Per, Unit     string
				Terms             string
				Limit, Used, Held json.Number
				Currency          string
				From, Until       *time.Time
			}
		}](t, x.mustAdmin(200, "GET", "/admin/v1/caps"+query, "")).Caps {
			if (c.From == nil) != (c.Per == "total") || c.From != nil && !c.From.Before(*c.Until) {
				t.Errorf("cap window from %v until %v", c.From, c.Until)
			}
			lines = append(lines, fmt.Sprint(c.Of, c.Terms, " ", c.Per, " ", c.Used, "+", c.Held, "/", c.Limit, " ", cmp.Or(c.Currency, c.Unit)))
		}
		return lines
	}
	campaign, terms, filterSet, buyer := "campaign hour 2+0/7 count", "termsrest week 2+0/3 count", "seat total 2+0/5 count", "buyer day 24.1+0/100 USD"
	for query, want := range map[string][]string{
		"": {campaign, terms, filterSet, buyer}, "?campaign=cmp": {campaign, terms, filterSet, buyer}, "?campaign=cmp_other": {buyer}, "?buyer=buy_blue": {campaign, terms, filterSet, buyer},
		"?buyer=nobody": nil, "?campaign=none": nil,
	} {
		if got := capLines(query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestBenchSendsTestLead: the example lead is sold as a test. Errors are those of its supplier's
// request.
func TestBenchSendsTestLead(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	a := x.mustAdmin(200, "GET", "/admin/v1/bench/example?campaign=cmp", "")
	example := strings.TrimSpace(a.body)
	var sent struct {
		Campaign, Supplier string
		Lead               map[string]any
	}
	if err := json.Unmarshal([]byte(example), &sent); err != nil || sent.Campaign != "cmp" || sent.Supplier != "sup_acme" || sent.Lead["state"] != "CA" && sent.Lead["state"] != "NV" {
		t.Fatalf("unexpected example: %v, %v", err, example)
	}
	a = x.mustAdmin(200, "POST", "/admin/v1/bench", example)
	var result struct {
		Status int
		Answer struct {
			Data struct{ ID, Status string }
			errorBody
		}
		Lead *string
	}
	if err := json.Unmarshal([]byte(a.body), &result); err != nil || result.Status != 201 || result.Answer.Data.Status != "ACCEPTED" || *result.Lead != result.Answer.Data.ID {
		t.Fatalf("unexpected answer to the example: %v, %v", err, a.body)
	}
	x.adminRequest("GET", "/admin/v1/explain/"+*result.Lead, "").mustHave(t, 200, `"test":true`)
	result.Lead = nil
	a = x.mustAdmin(200, "POST", "/admin/v1/bench", `{"campaign":"cmp","supplier":"sup_acme","lead":{"phone":"1"},"consent":{"tcpa_consent":true}}`)
	if err := json.Unmarshal([]byte(a.body), &result); err != nil || result.Status != 422 || result.Lead != nil || result.Answer.Error != "invalid_payload" || len(result.Answer.Fields) < 3 {
		t.Errorf("unexpected answer to an invalid lead: %v, %v", err, a.body)
	}
	for body, field := range map[string]string{
		`{}`: "lead", `{"campaign":"cmp","supplier":"nobody","lead":{}}`: "supplier", `{"supplier":"sup_acme","lead":{}}`: "campaign",
		`{"campaign":"cmp","supplier":"sup_acme","lead":[]}`: "lead", `{"campaign":"cmp","supplier":"sup_acme","lead":{},"consent":1}`: "consent",
	} {
		if a := x.adminRequest("POST", "/admin/v1/bench", body); !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Errorf("error of %s: %s", body, a.body)
		} else {
			a.mustFail(t, 422, "invalid_payload")
		}
	}
	x.adminRequest("POST", "/admin/v1/bench", "null").mustFail(t, 400, "malformed_json")
}

// TestBenchExamplePassesFilters: the example has all required fields and passes filters of each
// kind and type.
func TestBenchExamplePassesFilters(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "    payout: {share: 0.8}\n", `    payout: {share: 0.8}
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
	x := start(t, newTestDir(t, config))
	for range 20 { // examples are random
		example := x.mustAdmin(200, "GET", "/admin/v1/bench/example?campaign=cmp", "").body
		if a := x.mustAdmin(200, "POST", "/admin/v1/bench", example); !strings.Contains(a.body, `"status":"ACCEPTED"`) {
			t.Fatalf("%s for %s", a.body, example)
		}
	}
}
