package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/config/syntax"
)

// TestWhatCannotWork: a part that can never work is a mistake, and one that is most
// likely not meant is a warning. Each has its place, its line and a remedy.
func TestWhatCannotWork(t *testing.T) {
	sold := strings.Replace(base, "ping_post", "waterfall", 1)
	seats := func(keys, buyers string) string {
		return strings.Replace(sold, "[{buyer: buy_a}]", "["+buyers+"]", 1) + "    " + keys + "\n"
	}
	good := seats("floor: 1", "{buyer: buy_a, price: 2}")
	http := func(host, networks string) string {
		return networks + strings.Replace(good, "https://a.example", "http://"+host, 1)
	}
	for what, row := range map[string]struct {
		text   string
		fails  []string
		warns  []string
		remedy string
	}{
		"what works":                      {text: good},
		"a price below the floor":         {text: seats("floor: 3", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 3}"), fails: []string{"campaigns[0].buyers[0].price"}, remedy: "lower floor"},
		"no price, and a floor":           {text: seats("floor: 3", "{buyer: buy_a}"), fails: []string{"campaigns[0].buyers[0].price"}, remedy: "raise it"},
		"no price":                        {text: seats("floor: 0", "{buyer: buy_a}"), warns: []string{"campaigns[0].buyers[0].price"}, remedy: "give the price"},
		"a price of 0":                    {text: seats("floor: 0", "{buyer: buy_a, price: 0}"), warns: []string{"campaigns[0].buyers[0].price"}},
		"no price in an auction":          {text: base + "    floor: 1\n"},
		"a payout above every price":      {text: seats("payout: {fixed: 9}", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 8}"), fails: []string{"campaigns[0].payout.fixed"}, remedy: "raise a price"},
		"a payout above one price":        {text: seats("payout: {fixed: 3}", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 8}"), fails: []string{"campaigns[0].buyers[0].price"}, remedy: "lower payout.fixed"},
		"a payout of the price":           {text: seats("payout: {fixed: 2}", "{buyer: buy_a, price: 2}")},
		"no buyers":                       {text: seats("floor: 1", ""), warns: []string{"campaigns[0].buyers"}, remedy: "add a buyer"},
		"a star for all sources":          {text: good + "    consent_required_sources: [\"*\"]\n", fails: []string{"campaigns[0].consent_required_sources[0]"}, remedy: "Name each source"},
		"a star in a source":              {text: good + "    consent_required_sources: [x, \"fb_*\"]\n", warns: []string{"campaigns[0].consent_required_sources[1]"}},
		"a password of one letter":        {text: "admin: {password: ж}\n" + good, warns: []string{"admin.password"}, remedy: "longer"},
		"a password of 12 letters":        {text: "admin: {password: жжжжжжжжжжжж}\n" + good},
		"admin on all interfaces":         {text: "admin: {listen: \"0.0.0.0:9090\"}\n" + good, warns: []string{"admin.listen"}, remedy: "admin.tls"},
		"admin on an address without one": {text: "admin: {listen: \":9090\"}\n" + good, warns: []string{"admin.listen"}},
		"admin on a public address":       {text: "admin: {listen: \"203.0.113.5:9090\"}\n" + good, warns: []string{"admin.listen"}},
		"admin on this machine":           {text: "admin: {listen: \"[::1]:9090\"}\n" + good},
		"admin in a trusted network":      {text: "trusted_networks: [10.0.0.0/8]\nadmin: {listen: \"10.1.2.3:9090\"}\n" + good},
		"admin with TLS":                  {text: "admin: {listen: \"0.0.0.0:9090\", tls: {cert: a, key: b}}\n" + good},
		"plain http by a name":            {text: http("a.example", ""), fails: []string{"buyers[0].endpoint"}, remedy: "use https"},
		"plain http to localhost":         {text: http("localhost:80", "trusted_networks: [10.0.0.0/8]\n"), fails: []string{"buyers[0].endpoint"}, remedy: "127.0.0.0/8"},
		"plain http by a name, networks":  {text: http("a.example", "trusted_networks: [10.0.0.0/8]\n"), warns: []string{"buyers[0].endpoint"}, remedy: "Use https"},
		"plain http to localhost, inside": {text: http("localhost:80", "trusted_networks: [\"::1\"]\n")},
	} {
		t.Run(what, func(t *testing.T) {
			source, err := Parse("exchange.yaml", []byte(row.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			built, err := source.Compile()
			var failed *syntax.Problems
			if errors.As(err, &failed) != (err != nil) {
				t.Fatal(err)
			}
			var all syntax.Problems
			check := func(found syntax.Problems, want []string) {
				var at []string
				for _, p := range found {
					at = append(at, p.Path)
					if p.Line == 0 || !strings.Contains(p.Message, row.remedy) || strings.Contains(p.Message, "ж") {
						t.Errorf("%+v", p)
					}
				}
				if !slices.Equal(at, want) {
					t.Errorf("found %v, want %q", found, want)
				}
			}
			if failed != nil {
				all = *failed
			}
			check(all, row.fails)
			if built != nil {
				check(built.Warnings, row.warns)
			}
		})
	}
}

// TestAcceptedEntriesAreWarnings: an entry that the exchange has already is no mistake by
// a rule that came later. One that is sent is.
func TestAcceptedEntriesAreWarnings(t *testing.T) {
	ref, path := canonical.EntryRef{Kind: canonical.Campaigns, ID: "old"}, "campaigns[old].buyers[0].price"
	made := canonical.Entries{}.WithEntry(ref, json.RawMessage(`{"id":"old","method":"waterfall","floor":3,"buyers":[{"buyer":"buy_a","price":2}]}`)).
		WithEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_x"}, json.RawMessage(`{"id":"buy_x"}`))
	c := combined(t, documented(t), made)
	c.SetSentEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_x"})
	for range 2 {
		built, err := c.Compile(nil)
		if err != nil {
			t.Fatal(err)
		}
		if of := c.ProblemsFromAPI(built.Warnings); len(of) != 1 || of[0].Path != path {
			t.Errorf("warnings: %v, of %v", of, built.Warnings)
		}
		c.SetSentEntry(canonical.EntryRef{})
	}
	c.SetSentEntry(ref)
	var problems *syntax.Problems
	if _, err := c.Compile(nil); !errors.As(err, &problems) || (*problems)[0].Path != path {
		t.Errorf("sent it is no mistake: %v", err)
	}
}
