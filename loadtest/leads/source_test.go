package leads

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

var three = []Campaign{
	{ID: "cmp_auto", Vertical: Auto, Weight: 5, Certified: "facebook"},
	{ID: "cmp_solar", Vertical: Solar, Weight: 3},
	{ID: "cmp_life", Vertical: Life, Weight: 2},
}

func options(seed uint64) Options {
	return Options{Seed: seed, Supplier: "sup_acme", Campaigns: three, Mistakes: 100, Repeats: 100}
}

func members(t *testing.T, lead *Lead) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(lead.Body, &out); err != nil {
		t.Fatalf("%s: %v", lead.Body, err)
	}
	return out
}

func TestSameSeedSameBytes(t *testing.T) {
	text := func(leads []Lead) string {
		var out bytes.Buffer
		for _, l := range leads {
			out.Write(append(l.Body, '\n'))
		}
		return out.String()
	}
	first := text(New(options(7)).Take(500))
	if again := text(New(options(7)).Take(500)); again != first {
		t.Error("the same seed made other leads")
	}
	if other := text(New(options(8)).Take(500)); other == first {
		t.Error("another seed made the same leads")
	}
	if one := text(New(options(7)).Take(1)); !strings.HasPrefix(first, one) {
		t.Error("how many are asked for changes the first one")
	}
}

func TestLeadIsOneLine(t *testing.T) {
	for _, lead := range New(options(1)).Take(2000) {
		if len(lead.Body) == 0 || bytes.ContainsAny(lead.Body, "\n\r") {
			t.Fatalf("not one line: %q", lead.Body)
		}
	}
}

// TestShares looks whether what was asked for comes about as often.
func TestShares(t *testing.T) {
	const n = 20_000
	campaigns, mistakes, repeats, states := map[string]int{}, 0, 0, map[string]int{}
	for _, lead := range New(options(3)).Take(n) {
		campaigns[lead.Campaign]++
		states[lead.State]++
		if lead.Mistake != None {
			mistakes++
		}
		if lead.Repeat {
			repeats++
		}
	}
	near := func(what string, got, want int) {
		t.Helper()
		if got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: %d of %d, want about %d", what, got, n, want)
		}
	}
	near("cmp_auto", campaigns["cmp_auto"], n*5/10)
	near("cmp_solar", campaigns["cmp_solar"], n*3/10)
	near("cmp_life", campaigns["cmp_life"], n*2/10)
	near("mistakes", mistakes, n/10)
	near("repeats", repeats, n*9/100) // of those without a mistake
	for _, state := range States() {
		if states[state] == 0 {
			t.Errorf("nobody is from %s", state)
		}
	}
	if states[""] == 0 {
		t.Error("every lead has a state")
	}
}

func TestNothingIsAsked(t *testing.T) {
	opt := options(1)
	opt.Mistakes, opt.Repeats = 0, 0
	for i, lead := range New(opt).Take(3000) {
		if lead.Mistake != None || lead.Repeat {
			t.Fatalf("lead %d: %+v", i, lead)
		}
	}
}

// TestIdentities: a repeat shares its phone or its e-mail with an earlier good
// lead of its campaign, and any other lead shares neither.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := options(rapid.Uint64().Draw(t, "seed"))
		opt.Mistakes = 0
		opt.Repeats = rapid.IntRange(0, 500).Draw(t, "repeats")
		seen := map[string]bool{}
		for i, lead := range New(opt).Take(120) {
			var body struct{ Phone, Email string }
			if err := json.Unmarshal(lead.Body, &body); err != nil {
				t.Fatal(err)
			}
			phone, email := lead.Campaign+lead.Phone, lead.Campaign+strings.ToLower(body.Email)
			if got := seen[phone] || seen[email]; got != lead.Repeat {
				t.Fatalf("lead %d: seen before %v, said to be a repeat %v", i, got, lead.Repeat)
			}
			seen[phone], seen[email] = true, true
			form, ok := market.ParsePhone(nil, []byte(body.Phone))
			if !ok || string(form) != lead.Phone {
				t.Fatalf("%q is the number %q, said to be %q", body.Phone, form, lead.Phone)
			}
		}
	})
}

func TestPeopleAreMadeUp(t *testing.T) {
	hosts := []string{"example.com", "example.net", "example.org"}
	for _, lead := range New(options(5)).Take(3000) {
		if lead.Phone[5:10] != "55501" || len(lead.Phone) != 12 {
			t.Fatalf("%s may be somebody's number", lead.Phone)
		}
		if lead.Mistake != None {
			continue
		}
		email := members(t, &lead)["email"].(string)
		_, host, _ := strings.Cut(strings.ToLower(email), "@")
		if !slices.Contains(hosts, strings.TrimPrefix(host, "mail.")) {
			t.Fatalf("%s may be somebody's address", email)
		}
	}
}

func TestRingForgetsTheOldest(t *testing.T) {
	s := New(Options{Campaigns: []Campaign{{ID: "one", Weight: 1}}})
	s.Take(3 * remembered)
	known := s.known["one"]
	if len(known.people) != remembered {
		t.Fatalf("%d people are remembered, want %d", len(known.people), remembered)
	}
	oldest := s.people
	for _, p := range known.people {
		number := strings.Trim(p.Email[:strings.IndexByte(p.Email, '@')], "abcdefghijklmnopqrstuvwxyz.")
		if len(number) == 0 {
			t.Fatalf("%s has no number", p.Email)
		}
		n := 0
		for _, c := range number {
			n = 10*n + int(c-'0')
		}
		oldest = min(oldest, n)
	}
	if oldest != 2*remembered+1 {
		t.Errorf("the oldest that is remembered is number %d, want %d", oldest, 2*remembered+1)
	}
}

func TestImpossibleOptions(t *testing.T) {
	for name, opt := range map[string]Options{
		"no campaign": {},
		"no weight":   {Campaigns: []Campaign{{ID: "one"}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("taken")
				}
			}()
			New(opt)
		})
	}
}

func TestVerticalFields(t *testing.T) {
	common := []string{
		"flo_campaign_id", "flo_supplier_id", "first_name", "last_name", "phone", "email", "source", "tcpa_consent", "state",
		"line1", "city", "zip", "ip_address", "consent_timestamp", "consent_text", "ai_quality_score", "consent_cert_url", "landing_page",
	}
	own := map[Vertical][]string{
		Plain: nil,
		Auto:  {"vehicle_count", "driver_age_band", "currently_insured", "homeowner", "birth_date", "vehicles"},
		Solar: {"homeowner", "monthly_bill", "roof", "shaded"},
		Life:  {"birth_date", "age_band", "tobacco", "coverage"},
	}
	for vertical, names := range own {
		seen := map[string]bool{}
		s := New(Options{Supplier: "sup", Campaigns: []Campaign{{ID: "one", Vertical: vertical, Weight: 1, Certified: "facebook"}}})
		for _, lead := range s.Take(400) {
			for name := range members(t, &lead) {
				seen[name] = true
			}
		}
		want := slices.Sorted(slices.Values(append(slices.Clone(common), names...)))
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
			t.Errorf("vertical %d has\n%q, want\n%q", vertical, got, want)
		}
	}
}
