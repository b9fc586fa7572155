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

// TestUnsellableSettings: a setting that can never work is a problem, and a probable mistake is a
// warning. Each has a path, a line and a remedy.
func TestUnsellableSettings(t *testing.T) {
	waterfall := strings.Replace(base, "ping_post", "waterfall", 1)
	campaign := func(keys, buyers string) string {
		return strings.Replace(waterfall, "[{buyer: buy_a}]", "["+buyers+"]", 1) + "    " + keys + "\n"
	}
	valid := campaign("floor: 1", "{buyer: buy_a, price: 2}")
	http := func(host, networks string) string {
		return networks + strings.Replace(valid, "https://a.example", "http://"+host, 1)
	}
	for name, row := range map[string]struct {
		text     string
		problems []string
		warnings []string
		remedy   string
	}{
		"a valid campaign":                {text: valid},
		"a price below the floor":         {text: campaign("floor: 3", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 3}"), problems: []string{"campaigns[0].buyers[0].price"}, remedy: "lower floor"},
		"no price, and a floor":           {text: campaign("floor: 3", "{buyer: buy_a}"), problems: []string{"campaigns[0].buyers[0].price"}, remedy: "raise it"},
		"no price":                        {text: campaign("floor: 0", "{buyer: buy_a}"), warnings: []string{"campaigns[0].buyers[0].price"}, remedy: "give the price"},
		"a price of 0":                    {text: campaign("floor: 0", "{buyer: buy_a, price: 0}"), warnings: []string{"campaigns[0].buyers[0].price"}},
		"no price in an auction":          {text: base + "    floor: 1\n"},
		"a payout above every price":      {text: campaign("payout: {fixed: 9}", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 8}"), problems: []string{"campaigns[0].payout.fixed"}, remedy: "raise a price"},
		"a payout above one price":        {text: campaign("payout: {fixed: 3}", "{buyer: buy_a, price: 2}, {buyer: buy_b, price: 8}"), problems: []string{"campaigns[0].buyers[0].price"}, remedy: "lower payout.fixed"},
		"a modified price over a million": {text: campaign("floor: 1", "{buyer: buy_a, price: 10001, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 100}]}"), problems: []string{"campaigns[0].buyers[0].modifiers[0].price"}, remedy: "lower it"},
		"always below the floor":          {text: campaign("floor: 3", "{buyer: buy_a, price: 1, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 2.999999}]}"), problems: []string{"campaigns[0].buyers[0].price"}, remedy: "lower floor"},
		"above the floor at times":        {text: campaign("floor: 3", "{buyer: buy_a, price: 1, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 3}]}"), warnings: []string{"campaigns[0].buyers[0].price"}, remedy: "schedule"},
		"below the floor at times":        {text: campaign("floor: 3", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 0.5}]}"), warnings: []string{"campaigns[0].buyers[0].modifiers[0].price"}, remedy: "caps: 0"},
		"below the payout at times":       {text: campaign("payout: {fixed: 3}", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 0.5}]}"), warnings: []string{"campaigns[0].buyers[0].modifiers[0].price"}, remedy: "caps: 0"},
		"free at times":                   {text: campaign("floor: 0", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 0}]}"), warnings: []string{"campaigns[0].buyers[0].modifiers[0].price"}, remedy: "raise it"},
		"a modified price in an auction":  {text: replaceInBase("{buyer: buy_a}", "{buyer: buy_a, modifiers: [{during: [\"Mon 08:00-09:00\"], price: 2}]}") + "    floor: 1\n", warnings: []string{"campaigns[0].buyers[0].modifiers[0].price"}, remedy: "remove it"},
		"modified caps without caps":      {text: campaign("floor: 1", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-09:00\"], caps: 2}]}"), warnings: []string{"campaigns[0].buyers[0].modifiers[0].caps"}, remedy: "add caps"},
		"caps of 0 without caps":          {text: campaign("floor: 1", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-09:00\"], caps: 0}]}")},
		"hours of earlier modifiers":      {text: campaign("floor: 1", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon-Fri 08:00-12:00\"], caps: 0}, {during: [\"Mon-Sun 11:00-18:00\"], caps: 0}, {during: [\"Tue 09:00-17:00\"], caps: 0}]}"), warnings: []string{"campaigns[0].buyers[0].modifiers[2].during"}, remedy: "move it up"},
		"those hours in another zone":     {text: campaign("floor: 1", "{buyer: buy_a, price: 4, modifiers: [{during: [\"Mon 08:00-12:00\"], caps: 0}, {during: [\"Mon 08:00-12:00\"], time_zone: Asia/Tokyo, caps: 0}, {during: [\"Mon 11:59-12:01\"], caps: 0}]}")},
		"a payout equal to the price":     {text: campaign("payout: {fixed: 2}", "{buyer: buy_a, price: 2}")},
		"no buyers":                       {text: campaign("floor: 1", ""), warnings: []string{"campaigns[0].buyers"}, remedy: "add a buyer"},
		"a star for all sources":          {text: valid + "    consent_required_sources: [\"*\"]\n", problems: []string{"campaigns[0].consent_required_sources[0]"}, remedy: "Name each source"},
		"a star in a source":              {text: valid + "    consent_required_sources: [x, \"fb_*\"]\n", warnings: []string{"campaigns[0].consent_required_sources[1]"}},
		"a password of one letter":        {text: "admin: {password: ж}\n" + valid, warnings: []string{"admin.password"}, remedy: "longer"},
		"a password of 12 letters":        {text: "admin: {password: жжжжжжжжжжжж}\n" + valid},
		"admin on all interfaces":         {text: "admin: {listen: \"0.0.0.0:9090\"}\n" + valid, warnings: []string{"admin.listen"}, remedy: "admin.tls"},
		"admin without a host":            {text: "admin: {listen: \":9090\"}\n" + valid, warnings: []string{"admin.listen"}},
		"admin on a public address":       {text: "admin: {listen: \"203.0.113.5:9090\"}\n" + valid, warnings: []string{"admin.listen"}},
		"admin on this machine":           {text: "admin: {listen: \"[::1]:9090\"}\n" + valid},
		"admin in a trusted network":      {text: "trusted_networks: [10.0.0.0/8]\nadmin: {listen: \"10.1.2.3:9090\"}\n" + valid},
		"admin with TLS":                  {text: "admin: {listen: \"0.0.0.0:9090\", tls: {cert: a, key: b}}\n" + valid},
		"plain http by a name":            {text: http("a.example", ""), problems: []string{"buyers[0].endpoint"}, remedy: "use https"},
		"plain http to localhost":         {text: http("localhost:80", "trusted_networks: [10.0.0.0/8]\n"), problems: []string{"buyers[0].endpoint"}, remedy: "127.0.0.0/8"},
		"plain http by a name, networks":  {text: http("a.example", "trusted_networks: [10.0.0.0/8]\n"), warnings: []string{"buyers[0].endpoint"}, remedy: "Use https"},
		"plain http to localhost, inside": {text: http("localhost:80", "trusted_networks: [\"::1\"]\n")},
	} {
		t.Run(name, func(t *testing.T) {
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
					t.Errorf("problems %v, want %q", found, want)
				}
			}
			if failed != nil {
				all = *failed
			}
			check(all, row.problems)
			if built != nil {
				check(built.Warnings, row.warnings)
			}
		})
	}
}

// TestExistingEntryBreakingNewRuleIsWarning: an existing entry that breaks a newer rule causes a
// warning. A sent entry causes a problem.
func TestExistingEntryBreakingNewRuleIsWarning(t *testing.T) {
	ref, path := canonical.EntryRef{Kind: canonical.Campaigns, ID: "old"}, "campaigns[old].buyers[0].price"
	entries := canonical.Entries{}.WithEntry(ref, json.RawMessage(`{"id":"old","method":"waterfall","floor":3,"buyers":[{"buyer":"buy_a","price":2}]}`)).
		WithEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_x"}, json.RawMessage(`{"id":"buy_x"}`))
	c := mustMerge(t, mergeBase(t), entries)
	c.MarkEntryAsJustSent(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_x"})
	for range 2 {
		built, err := c.Compile(nil)
		if err != nil {
			t.Fatal(err)
		}
		if fromAPI := c.ProblemsInAPIEntries(built.Warnings); len(fromAPI) != 1 || fromAPI[0].Path != path {
			t.Errorf("warnings about API entries: %v of %v", fromAPI, built.Warnings)
		}
		c.MarkEntryAsJustSent(canonical.EntryRef{})
	}
	c.MarkEntryAsJustSent(ref)
	var problems *syntax.Problems
	if _, err := c.Compile(nil); !errors.As(err, &problems) || (*problems)[0].Path != path {
		t.Errorf("the sent entry causes no problem: %v", err)
	}
}
