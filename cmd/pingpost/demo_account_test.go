package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/leads"
	"pingpost/loadtest/refbuyer"
	"pingpost/server/config"
)

// settled is an account in which everything agrees: four good leads and one
// without a phone number.
func settled(t *testing.T) *account {
	t.Helper()
	set := &demoSet{buyers: demoBuyers()}
	for range 4 {
		set.leads = append(set.leads, leads.Lead{Campaign: "cmp_auto"})
	}
	set.leads = append(set.leads, leads.Lead{Campaign: "cmp_life", Mistake: leads.NoPhone})
	a := newAccount(set)
	answers := []*answer{
		to("buy_swift", 8_750_000), to("buy_swift", 8_750_000), to("buy_vault", 6_650_000),
		ingested(statusUnmatched, "caps_full", "", 0), refusal(422, "invalid_payload"),
	}
	answers[3].lead.Campaign = "cmp_auto"
	answers[4].fault.FieldErrors = append(answers[4].fault.FieldErrors, struct {
		Field string `json:"field"`
		Code  string `json:"code"`
	}{"phone", "missing_required"})
	for i, got := range answers {
		got.line, got.lead.ID = i+1, string(rune('a'+i))
		got.body = []byte(got.lead.ID)
		a.add(got)
		again := *got
		again.replayed = true
		a.repeat(&again)
	}
	a.stats["buy_swift"] = refbuyer.Stats{Accepted: 2, Posts: 2, Revenue: 25_000_000}
	a.vault = vaultFunds - 9_500_000
	a.hears("lead.posted", 3)
	a.hears("lead.unmatched", 1)
	return a
}

// hears lets the supplier hear of so many leads more, or fewer.
func (a *account) hears(what string, n int64) {
	if a.told.ByType == nil {
		a.told.ByType = map[string]int64{}
	}
	a.told.ByType[what] += n
	a.told.Distinct += n
}

func to(buyer string, payout market.Money) *answer {
	a := ingested(statusAccepted, "", "USD", payout)
	a.lead.Buyer, a.lead.Campaign = buyer, "cmp_auto"
	return a
}

func TestAccountThatAgrees(t *testing.T) {
	a := settled(t)
	if !a.good() {
		t.Fatal(a.report())
	}
	text := squeeze(a.report())
	for _, want := range []string{
		"all 5 3 1 1 0", "cmp_auto waterfall 4 3 1 0 0", "buy_swift 2 12.50 25.00 17.50 2 agrees", "buy_vault 1 9.50 9.50 6.65 recorded",
		"unmatched caps_full 1", "refused invalid_payload 1", "revenue 34.50", "payout 24.15", "margin 10.35",
		"agrees 5 leads sent again under their keys: the same 5 answers",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing is said of %q:\n%s", want, a.report())
		}
	}
}

// TestAccountsThatDiffer changes one thing each.
func TestAccountsThatDiffer(t *testing.T) {
	rows := map[string]func(*account){
		"a lead too few":                 func(a *account) { a.set.leads = append(a.set.leads, leads.Lead{}) },
		"no answer":                      func(a *account) { a.total.add(&answer{line: 6, tries: 6, err: errors.New("no")}) },
		"the buyer has one less":         func(a *account) { a.stats["buy_swift"] = refbuyer.Stats{Accepted: 1, Revenue: 12_500_000} },
		"the buyer has one more":         func(a *account) { a.stats["buy_swift"] = refbuyer.Stats{Accepted: 3, Revenue: 37_500_000} },
		"the buyer owes something else":  func(a *account) { a.stats["buy_swift"] = refbuyer.Stats{Accepted: 2, Revenue: 25_000_001} },
		"another buyer has one":          func(a *account) { a.stats["buy_shaky"] = refbuyer.Stats{Accepted: 1, Revenue: 11_000_000} },
		"sold twice":                     func(a *account) { a.stats["buy_picky"] = refbuyer.Stats{DoubleSold: 1} },
		"a buyer that nobody configured": func(a *account) { a.sold["buy_nobody"]++; a.sold["buy_vault"]-- },
		"money is gone":                  func(a *account) { a.vault-- },
		"a delivery is open":             func(a *account) { a.pending = 1 },
		"another answer the second time": func(a *account) { a.again-- },
		"a good lead refused":            func(a *account) { bad := refusal(422, "invalid_payload"); bad.line = 1; a.add(bad) },
		"a sale that is not told":        func(a *account) { a.hears("lead.posted", -1) },
		"a sale that is told twice":      func(a *account) { a.hears("lead.posted", 1) },
		"told as not sold after all":     func(a *account) { a.hears("lead.post_failed", 1) },
		"unsold, and not told":           func(a *account) { a.hears("lead.unmatched", -1) },
		"a post refused, and not told":   func(a *account) { a.deals.reasons["post: post_rejected suppressed"]++ },
		"a webhook is owed":              func(a *account) { a.told.pending = 1 },
		"a webhook is dead":              func(a *account) { a.told.dead = 1 },
		"a signature is wrong":           func(a *account) { a.told.BadSignatures = 1 },
		"an event told in two ways":      func(a *account) { a.told.Changed = 1 },
		"an event that is none":          func(a *account) { a.told.Invalid = 1 },
		"the same id again":              func(a *account) { got := to("buy_swift", 1); got.line, got.lead.ID = 1, "a"; a.add(got) },
	}
	for name, change := range rows {
		t.Run(name, func(t *testing.T) {
			a := settled(t)
			change(a)
			if a.good() || !strings.Contains(a.report(), differs) {
				t.Errorf("not seen:\n%s", a.report())
			}
		})
	}
}

func TestUnknownDeliveriesMayBeEither(t *testing.T) {
	a := settled(t)
	a.unknown["buy_swift"] = 1
	a.hears("lead.posted", -1) // nobody knows whether there is anything to tell
	for accepted, want := range map[int64]bool{0: false, 1: true, 2: true, 3: false} {
		a.stats["buy_swift"] = refbuyer.Stats{Accepted: accepted, Revenue: market.Money(accepted) * 12_500_000}
		if a.good() != want {
			t.Errorf("%d of 2, one of them unknown: %v, want %v", accepted, a.good(), want)
		}
	}
}

func TestMisfits(t *testing.T) {
	invalid := func(field, code string) *answer {
		a := refusal(422, "invalid_payload")
		a.fault.FieldErrors = append(a.fault.FieldErrors, struct {
			Field string `json:"field"`
			Code  string `json:"code"`
		}{field, code})
		return a
	}
	other := to("buy_swift", 1)
	other.lead.Campaign = "cmp_life"
	rows := []struct {
		name    string
		mistake leads.Mistake
		got     *answer
		says    string
	}{
		{"good and sold", leads.None, to("buy_swift", 1), ""},
		{"good and refused", leads.None, refusal(403, "forbidden"), "refused with 403 forbidden"},
		{"for another campaign", leads.None, other, "another campaign"},
		{"wrong and sold", leads.BadEmail, to("buy_swift", 1), "to be refused with 422 invalid_payload"},
		{"wrong and refused", leads.BadEmail, invalid("email", "invalid_format"), ""},
		{"refused for something else", leads.BadEmail, invalid("phone", "invalid_format"), "does not say invalid_format of email"},
		{"a number that is a text", leads.TextForNumber, invalid("coverage", "wrong_type"), ""},
		{"cut short", leads.CutShort, refusal(400, "malformed_json"), ""},
		{"another's supplier", leads.OtherSupplier, refusal(422, "invalid_payload"), "to be refused with 403"},
	}
	for _, row := range rows {
		got := misfit(&leads.Lead{Campaign: "cmp_auto", Mistake: row.mistake}, row.got)
		if (got == "") != (row.says == "") || !strings.Contains(got, row.says) {
			t.Errorf("%s: %q, want %q", row.name, got, row.says)
		}
	}
}

// TestDemoConfig: the document is good, and names nothing that is not there.
func TestDemoConfig(t *testing.T) {
	set := newDemoSet(200, 1)
	set.hooks = "http://127.0.0.1:1"
	for _, b := range set.buyers {
		if b.args != nil {
			b.URL = "http://127.0.0.1:1"
		}
	}
	document, err := demoConfig(set)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "exchange.yaml")
	if err := errors.Join(os.WriteFile(path, document, 0o600), os.WriteFile(filepath.Join(dir, "dnc.txt"), set.suppressed, 0o600)); err != nil {
		t.Fatal(err)
	}
	source, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if len(built.Catalog.Campaigns) != len(demoCampaigns) || len(built.Catalog.Buyers) != len(set.buyers) {
		t.Errorf("%d campaigns, %d buyers", len(built.Catalog.Campaigns), len(built.Catalog.Buyers))
	}
	for i := range demoCampaigns {
		c := &demoCampaigns[i]
		if there := built.Catalog.Campaigns[market.CampaignID(c.ID)]; there == nil || there.Method.String() != c.method {
			t.Errorf("%s is %+v, want %s", c.ID, there, c.method)
		}
	}
	if lines := strings.Count(string(set.suppressed), "\n"); lines < 1000 {
		t.Errorf("%d numbers are suppressed", lines)
	}
}

// TestSettling waits for the deliveries that are open.
func TestSettling(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "secret" || r.URL.Path != "/admin/v1/deliveries" {
			t.Errorf("%s with %q", r.URL, password)
		}
		body := `{"total":2,"deliveries":[{"state":"pending","buyer_id":"a"},{"state":"unknown","buyer_id":"b"}]}`
		if asked++; asked == 3 {
			body = `{"total":1,"deliveries":[{"state":"unknown","buyer_id":"b"}]}`
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	set := &demoSet{password: "secret"}
	a := newAccount(set)
	if err := a.settle(t.Context(), &demoExchange{private: server.URL, set: set}); err != nil {
		t.Fatal(err)
	}
	if asked != 3 || a.pending != 0 || len(a.unknown) != 1 || a.unknown["b"] != 1 {
		t.Errorf("asked %d times: pending %d, unknown %v", asked, a.pending, a.unknown)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.settle(ctx, &demoExchange{private: server.URL, set: set}); err == nil {
		t.Error("an interrupt was not heard")
	}
}

// TestAccountOfBids: what a bidder owes is told by its payouts, to the millionth.
func TestAccountOfBids(t *testing.T) {
	rows := map[string]struct {
		own    refbuyer.Stats
		agrees bool
	}{
		"the same":      {refbuyer.Stats{Accepted: 2, Revenue: 30_010_000}, true},
		"another price": {refbuyer.Stats{Accepted: 2, Revenue: 30_000_000}, false},
		"one fewer":     {refbuyer.Stats{Accepted: 1, Revenue: 15_000_000}, false},
		"a person told": {refbuyer.Stats{Accepted: 2, Revenue: 30_010_000, ContactSeen: 1}, false},
	}
	for name, row := range rows {
		a := settled(t)
		a.sold["bid_range"], a.payout["bid_range"] = 2, 24_008_000
		a.deals.offered, a.deals.sold = 2, 2
		a.hears("lead.posted", 2)
		a.set.offers = make([]leads.Lead, 2)
		a.stats["bid_range"] = row.own
		if a.good() != row.agrees {
			t.Errorf("%s:\n%s", name, a.report())
		}
	}
	for name, change := range map[string]func(*account){
		"an offer too few":      func(a *account) { a.set.offers = make([]leads.Lead, 1) },
		"another deal again":    func(a *account) { a.deals.repeated++ },
		"an offer without fate": func(a *account) { a.deals.offered++; a.set.offers = make([]leads.Lead, 1) },
	} {
		a := settled(t)
		if change(a); a.good() {
			t.Errorf("%s: not seen", name)
		}
	}
}
