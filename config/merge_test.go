package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/config/syntax"
)

// mergeBase returns the canonical document that the tests merge entries into.
func mergeBase(t *testing.T) []byte {
	t.Helper()
	return compileText(t, `
suppliers: [{id: sup, api_key: secret-of-sup}]
buyers: [{id: buy_a, endpoint: "https://a.example", auth: {bearer: secret-of-a}}, {id: buy_b}]
campaigns: [{id: cmp, method: waterfall, buyers: [{buyer: buy_a, price: 1}]}]
`, nil).Canonical
}

func mustMerge(t *testing.T, base []byte, fromAPI canonical.Entries) *FileAndAPIDocument {
	t.Helper()
	c, err := Merge("exchange.yaml", base, fromAPI)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMerge: entries from the API are sorted among the document's. Without such entries the
// document stays the same.
func TestMerge(t *testing.T) {
	document := mergeBase(t)
	same, err := mustMerge(t, document, nil).Compile(nil)
	if err != nil || string(same.Canonical) != string(document) {
		t.Fatalf("%v\n%s\n%s", err, same.Canonical, document)
	}
	fromAPI := canonical.Entries{}.WithEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_aa"}, json.RawMessage(`{"id":"buy_aa"}`)).
		WithEntry(canonical.EntryRef{Kind: canonical.Campaigns, ID: "cmp_0"}, json.RawMessage(`{"id":"cmp_0","method":"waterfall","buyers":[{"buyer":"buy_aa","price":2}]}`)).
		WithEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_b"}, json.RawMessage(`{"id":"buy_b","name":"another"}`))
	c := mustMerge(t, document, fromAPI)
	built, err := c.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Overridden) != 1 || c.Overridden[0] != (canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_b"}) || strings.Contains(string(built.Canonical), "another") {
		t.Errorf("overridden %v: %s", c.Overridden, built.Canonical)
	}
	whole, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, ref := range whole.Refs() {
		order = append(order, ref.String())
	}
	if got := strings.Join(order, " "); got != "suppliers[sup] buyers[buy_a] buyers[buy_aa] buyers[buy_b] campaigns[cmp] campaigns[cmp_0]" {
		t.Error(got)
	}
	again, err := canonical.ParseEntries(whole.EncodeDocument())
	if err != nil || string(again.EncodeDocument()) != string(whole.EncodeDocument()) || canonical.Entries(nil).EncodeDocument() != nil {
		t.Errorf("%v: %s", err, again.EncodeDocument())
	}
}

// TestMergeProblemsNameEntryID covers existing entries of the API, the sent entry, and entries of
// the document.
func TestMergeProblemsNameEntryID(t *testing.T) {
	document := mergeBase(t)
	sentRef := canonical.EntryRef{Kind: canonical.Campaigns, ID: "new"}
	for name, row := range map[string]struct {
		fromAPI canonical.Entries
		want    []string // path: message, in part
	}{
		"sent entry": {
			canonical.Entries{}.WithEntry(sentRef, json.RawMessage(`{"id":"new","method":"waterfall","caps":[{"count":-1,"per":"day"}],"unheard":1,"buyers":[{"buyer":"nobody","price":1}]}`)),
			[]string{"campaigns[new].caps[0]", "campaigns[new].unheard: unknown key", "campaigns[new].buyers[0].buyer: there is no buyer"},
		},
		"existing entry": {
			canonical.Entries{}.WithEntry(canonical.EntryRef{Kind: canonical.Campaigns, ID: "old"}, json.RawMessage(`{"id":"old","method":"waterfall","buyers":[{"buyer":"nobody","price":1}]}`)),
			[]string{"campaigns[old].buyers[0].buyer: there is no buyer \"nobody\"; add it under buyers (campaigns[old] was created through the API"},
		},
		"another entry": {
			canonical.Entries{}.WithEntry(canonical.EntryRef{Kind: canonical.Suppliers, ID: "7"}, json.RawMessage(`{"id":"7","oauth_clients":[{"client_id":"c","client_secret":"s"}]}`)).
				WithEntry(sentRef, json.RawMessage(`{"id":"new","method":"waterfall"}`)).
				WithEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_c"}, json.RawMessage(`{"id":"buy_c","oauth_clients":[{"client_id":"c","client_secret":"s"}]}`)),
			[]string{"buyers[buy_c].oauth_clients[0].client_id: is the same as suppliers[7].oauth_clients[0].client_id"},
		},
	} {
		c := mustMerge(t, document, row.fromAPI)
		c.MarkEntryAsJustSent(sentRef)
		_, err := c.Compile(nil)
		var problems *syntax.Problems
		if !errors.As(err, &problems) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), "exchange.yaml: "+want) {
				t.Errorf("%s: no %q in %v", name, want, err)
			}
		}
		if len(*problems) != len(row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := syntax.Problem{Path: "campaigns[new].caps[0].count"}
	if at, ok := sentRef.PathWithin(p.Path); !ok || at != "caps[0].count" {
		t.Errorf("%q, %v", at, ok)
	}
	if _, ok := (canonical.EntryRef{Kind: canonical.Campaigns, ID: "ne"}).PathWithin(p.Path); ok {
		t.Error("a path is within an entry whose id is a prefix")
	}
}

// TestMergeKeepsOmittedSecrets: a sent entry keeps the secrets that it omits; it can replace or
// remove the others.
func TestMergeKeepsOmittedSecrets(t *testing.T) {
	at := `"id":"new","endpoint":"https://new.example"`
	bearer, key := `{`+at+`,"auth":{"bearer":{"set":true}}}`, `{`+at+`,"auth":{"api_key":{"set":true},"header":"x-key"}}`
	oauth := `{` + at + `,"auth":{"oauth":{"token_url":"https://t.example/t","client_id":"c","client_secret":{"set":true}}}}`
	supplier := `{"id":"new","api_key":{"set":true},"oauth_clients":[{"client_id":"a","client_secret":{"set":true}}],"webhook":{"url":"https://w.example/","secret":{"set":true}}}`
	for _, row := range []struct {
		kind                       canonical.Collection
		before, sent, want, absent string
	}{
		{canonical.Buyers, bearer, `{` + at + `,"auth":{}}`, `"bearer":{"set":true}`, "api_key"},
		{canonical.Buyers, key, `{` + at + `,"auth":{"header":"x-other"}}`, `"api_key":{"set":true},"header":"x-other"`, "bearer"},
		{canonical.Buyers, key, `{` + at + `,"auth":{}}`, `"header":"x-api-key"`, "bearer"},
		{canonical.Buyers, bearer, `{` + at + `,"auth":{"api_key":"another"}}`, `"api_key":{"set":true}`, "bearer"},
		{canonical.Buyers, bearer, `{` + at + `}`, `"new"`, "auth"},
		{canonical.Buyers, oauth, strings.Replace(oauth, `,"client_secret":{"set":true}`, "", 1), `"client_secret":{"set":true}`, "bearer"},
		{canonical.Suppliers, supplier, `{"id":"new"}`, `"api_key":{"set":true}`, "webhook"},
		{canonical.Suppliers, supplier, `{"id":"new","oauth_clients":[{"client_id":"a"}],"webhook":{"url":"https://x.example/"}}`, `"client_secret":{"set":true}`, "w.example"},
	} {
		ref := canonical.EntryRef{Kind: row.kind, ID: "new"}
		c := mustMerge(t, mergeBase(t), canonical.Entries{}.WithEntry(ref, json.RawMessage(row.sent)))
		c.MarkEntryAsJustSent(ref)
		built, err := c.Compile(json.RawMessage(row.before))
		if err != nil {
			t.Errorf("%s: %v", row.sent, err)
			continue
		}
		whole, err := canonical.ParseEntries(built.Canonical)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(whole.FindJSON(ref)); !strings.Contains(got, row.want) || strings.Contains(got, row.absent) {
			t.Errorf("sent %s, merged %s", row.sent, got)
		}
	}
	// A new client has no secret to keep.
	c := mustMerge(t, mergeBase(t), canonical.Entries{}.WithEntry(canonical.EntryRef{Kind: canonical.Suppliers, ID: "new"}, json.RawMessage(`{"id":"new","oauth_clients":[{"client_id":"b"}]}`)))
	c.MarkEntryAsJustSent(canonical.EntryRef{Kind: canonical.Suppliers, ID: "new"})
	if _, err := c.Compile(json.RawMessage(supplier)); err == nil || !strings.Contains(err.Error(), "suppliers[new].oauth_clients[0].client_secret: is missing") {
		t.Error(err)
	}
}

func TestAddMissingID(t *testing.T) {
	ref := canonical.EntryRef{Kind: canonical.Lists, ID: "dnc"}
	for text, want := range map[string]string{
		`{"field":"phone"}`: `{"id":"dnc","field":"phone"}`, ` { } `: `{"id":"dnc"} `, `{"id":"dnc"}`: `{"id":"dnc"}`,
		`{"id":"other"}`: "", `{"id":7}`: "", `[]`: "", `null`: "", `{"id":"dnc","file":"/etc/passwd"}`: "", `{"file":"/etc/passwd"}`: "",
	} {
		got, err := canonical.CheckSentEntryAndAddID([]byte(text), ref)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("AddMissingID(%s) = %s, %v", text, got, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`{"api_key":"x","b":[{"secret":"${Y}","n":1.50}]}`:   `{"api_key":{"set":true},"b":[{"n":1.50,"secret":{"set":true}}]}`,
		`{"bearer":{"set":true},"name":"${HOME}","token":7}`: `{"bearer":{"set":true},"name":"${HOME}","token":{"set":true}}`,
		`{"oauth":{"client_secret":["x"]}}`:                  `{"oauth":{"client_secret":{"set":true}}}`,
		`nothing`:                                            "",
	} {
		if got := string(canonical.RedactSecretsInJSON([]byte(text))); got != want {
			t.Errorf("RedactSecretsInJSON(%s) = %s", text, got)
		}
	}
}
