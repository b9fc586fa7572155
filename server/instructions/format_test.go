package instructions

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

// hostile is a name that each format must escape.
const hostile = "a|b`c*<script>alert(1)</script>\\ [x](javascript:1) \U0001F600 \u4e16"

func hostileDocument(t *testing.T) *Document {
	t.Helper()
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{
		{Name: hostile, Type: market.TypeString, Pattern: "a|b", Required: true},
		{Name: "pick", Type: market.TypeEnum, Values: []string{hostile, strings.Repeat("long words ", 300)}, Required: true},
	}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	currency, _ := market.ParseCurrency("USD")
	campaign := &market.Campaign{ID: "cmp", Name: hostile, Vertical: "auto", Method: market.PingPost, Currency: currency, Mapping: mapping, Zone: time.UTC}
	env := &ExchangeSettings{BaseURL: "https://leads.example.com", BaseURLSet: true, FormatDuration: time.Duration.String}
	return Build(env, campaign, &market.Supplier{ID: "sup", Name: hostile}, SupplierCredentialHints{APIKeyHints: []string{"key_1"}, Clients: []OAuthClientSummary{{ID: "c", Hint: "sec_1", Scopes: []string{"ping"}}}})
}

func TestPageEscapesNames(t *testing.T) {
	page := string(hostileDocument(t).AppendHTML(nil, []PageLink{{Text: hostile, Target: "javascript:alert(1)"}}))
	for _, forbidden := range []string{"<script", "href=\"javascript"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page contains %s", forbidden)
		}
	}
}

func TestMarkdownEscapesNames(t *testing.T) {
	if got, want := escapeMarkdown(hostile), "a\\|b\\`c\\*&lt;script>alert(1)&lt;/script>\\\\ \\[x\\](javascript:1) \U0001F600 \u4e16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]string{"a": "`a`", "a|b": "`a\\|b`", "a`b": "``a`b``", "`": "`` ` ``", "a\nb": "`a b`"} {
		if got := quoteMarkdownCode(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if !strings.HasPrefix(string(hostileDocument(t).AppendMarkdown(nil)), "# Posting instructions: a\\|b") {
		t.Error("the title is not escaped")
	}
	if _, ok, _ := hostileDocument(t).Render("doc", nil, time.Time{}); ok {
		t.Error("there is a format doc")
	}
}

func TestJSONAndPDF(t *testing.T) {
	d := hostileDocument(t)
	file, _, err := d.Render("json", nil, time.Time{})
	must.Succeed(t, err)
	var back Document
	must.Succeed(t, json.Unmarshal(file.Body, &back))
	if back.Fields[len(back.Fields)-2].Name != hostile || back.Fields[len(back.Fields)-2].Pattern != "a|b" {
		t.Errorf("the custom field became %+v", back.Fields[len(back.Fields)-2])
	}
	first, _, err := d.Render("pdf", nil, time.Unix(1_800_000_000, 0))
	must.Succeed(t, err)
	second, _, err := d.Render("pdf", nil, time.Unix(1_800_000_000, 0))
	must.Succeed(t, err)
	if !bytes.HasPrefix(first.Body, []byte("%PDF-")) || !bytes.Equal(first.Body, second.Body) {
		t.Error("no PDF, or two of one document differ")
	}
}

// TestCurlQuoting checks that a value with a quote stays one word of the shell.
func TestCurlQuoting(t *testing.T) {
	r := SampleRequest{Method: "POST", URL: "https://x.example", Body: `{"a":"it's"}`}
	if want := `curl -X POST 'https://x.example' \` + "\n" + `  -d '{"a":"it'\''s"}'`; r.formatCurl() != want {
		t.Errorf("got %s, want %s", r.formatCurl(), want)
	}
}

// TestResponseCodes checks that codes of auctions are only in campaigns with auctions.
func TestResponseCodes(t *testing.T) {
	find := func(codes []PublicErrorAndRemedy, code string) bool {
		for _, c := range codes {
			if c.Code == code {
				return c.Do != ""
			}
		}
		return false
	}
	for code, want := range map[string][2]bool{"invalid_payload": {true, true}, "bid_expired": {false, true}, "invalid_transition": {false, false}, "no_account": {false, false}} {
		if got := [2]bool{find(errorsForSupplier(false), code), find(errorsForSupplier(true), code)}; got != want {
			t.Errorf("%s: got %v, want %v", code, got, want)
		}
	}
}

// TestSelectorsOfOwnFields: a campaign with its own field campaign_id gets the id under its second name.
func TestSelectorsOfOwnFields(t *testing.T) {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{{Name: "campaign_id", Type: market.TypeString}}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	currency, _ := market.ParseCurrency("USD")
	campaign := &market.Campaign{ID: "cmp", Mapping: mapping, Currency: currency, Zone: time.UTC}
	d := Build(&ExchangeSettings{FormatDuration: time.Duration.String}, campaign, &market.Supplier{ID: "sup"}, SupplierCredentialHints{})
	if d.Selectors[0].Name != "flo_campaign_id" || d.Selectors[1].Name != "supplier_id" {
		t.Errorf("the ids are %s and %s", d.Selectors[0].Name, d.Selectors[1].Name)
	}
	if !strings.Contains(d.Requests[0].Body, `"flo_campaign_id": "cmp"`) || !strings.Contains(d.Requests[0].Body, `"supplier_id": "sup"`) {
		t.Errorf("the sample is %s", d.Requests[0].Body)
	}
}

// TestEndOfLink: a document that is read under a link has the link's end.
func TestEndOfLink(t *testing.T) {
	d := hostileDocument(t)
	const end = "works until 5 December 2026, 19:30 UTC"
	if strings.Contains(string(d.AppendMarkdown(nil)), "works until") {
		t.Error("a document without a link has an end")
	}
	d.LinkEnds = time.Unix(1_796_499_000, 0)
	if text := string(d.AppendMarkdown(nil)); !strings.Contains(text, end) {
		t.Errorf("no %q in %.600s", end, text)
	}
}
