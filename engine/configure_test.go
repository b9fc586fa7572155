package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// kinds lists what entries say, from one on.
func (x *exchange) kinds(from int) (kinds []event.Kind) {
	x.t.Helper()
	var decoder event.Decoder
	for _, e := range x.log.durable()[from:] {
		fact, err := decoder.Decode(e.data)
		if err != nil {
			x.t.Fatal(err)
		}
		kinds = append(kinds, fact.Kind())
	}
	return kinds
}

func TestConfigurationIsLoggedOnce(t *testing.T) {
	bubble(t, "the same again", func(t *testing.T) {
		r := two()
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain}}
		x := begin(t, r)
		if got := fmt.Sprint(x.kinds(0)); got != "[names_given funds_moved funds_moved catalog_set]" {
			t.Errorf("at first %s", got)
		}
		entries := x.log.len()
		x.configure(r)
		x.crash()
		x.configure(r)
		if got := x.kinds(entries); len(got) != 0 {
			t.Errorf("the same document logs %v", got)
		}
		if v := x.engine.Catalog().Version; v != 1 {
			t.Errorf("version %d", v)
		}
		r.campaigns[0].floor = "1"
		x.configure(r)
		if got := fmt.Sprint(x.kinds(entries)); got != "[catalog_set]" || x.engine.Catalog().Version != 2 {
			t.Errorf("another floor logs %s, version %d", got, x.engine.Catalog().Version)
		}
		r.buyers = append(r.buyers, buyer{id: "red", caps: []string{"day 1"}, funds: "1"})
		x.configure(r)
		if got := fmt.Sprint(x.kinds(entries)); got != "[catalog_set names_given funds_moved catalog_set]" {
			t.Errorf("another buyer logs %s", got)
		}
	})
	bubble(t, "many names", func(t *testing.T) {
		r := three(market.Waterfall)
		for i := range 2500 {
			r.suppliers = append(r.suppliers, fmt.Sprintf("sup%04d", i))
		}
		x := begin(t, r)
		if got := fmt.Sprint(x.kinds(0)); got != "[names_given names_given catalog_set]" {
			t.Error(got)
		}
		x.crash()
		if got := x.tell(person(1, "flo_supplier_id", "sup2499").by("sup2499")); got != "blue" {
			t.Error(got)
		}
	})
}

// A cap is known by scope, unit, period and zone: a new limit keeps its counts.
func TestNewLimitKeepsCounts(t *testing.T) {
	tests := []struct {
		what string
		cap  string
		want string // of two more leads, after two under "day 2"
	}{
		{"raised by one", "day 3", "blue caps_full"},
		{"lowered", "day 1", "caps_full caps_full"},
		{"another period begins anew", "week 2", "blue blue"},
		{"another zone begins anew", "day 2 Asia/Tokyo", "blue blue"},
		{"another unit begins anew", "day $15", "blue caps_full"},
	}
	for _, test := range tests {
		for _, where := range []string{"buyer", "campaign", "pair"} {
			bubble(t, test.what+" of the "+where, func(t *testing.T) {
				capped := func(text string) rig {
					r := rig{buyers: []buyer{{id: "blue"}}, campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}}}}}
					switch where {
					case "buyer":
						r.buyers[0].caps = []string{text}
					case "campaign":
						r.campaigns[0].caps = []string{text}
					case "pair":
						r.campaigns[0].seats[0].caps = []string{text}
					}
					return r
				}
				x := begin(t, capped("day 2"))
				if got := x.told(1, 3); got != "blue blue caps_full" {
					t.Fatal(got)
				}
				x.configure(rig{buyers: []buyer{{id: "gold"}}, campaigns: []campaign{{id: "home", method: market.Waterfall}}})
				x.configure(capped(test.cap))
				if got := x.told(11, 2); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				x.configure(capped("day 2"))
				if got := x.told(21, 1); got != "caps_full" {
					t.Errorf("back under the first cap: %s", got)
				}
			})
		}
	}
}

// A name keeps its number for ever, and with it its money.
func TestNamesKeepTheirNumbers(t *testing.T) {
	bubble(t, "a buyer that goes and comes back", func(t *testing.T) {
		full := three(market.Waterfall)
		full.buyers[1].funds = "10"
		x := begin(t, full)
		gold := x.state.RefOf(event.ObjectBuyer, "gold")
		without := three(market.Waterfall)
		without.buyers = []buyer{{id: "blue"}, {id: "amber"}, {id: "red"}}
		without.campaigns[0].seats[1].buyer = "amber"
		x.configure(without)
		if n := x.state.RefOf(event.ObjectBuyer, "amber"); n != 4 {
			t.Errorf("a new buyer has number %d", n)
		}
		x.crash()
		full.campaigns[0].seats = full.campaigns[0].seats[1:]
		full.buyers[1].funds = "70"
		x.configure(full)
		if n := x.state.RefOf(event.ObjectBuyer, "gold"); n != gold || x.engine.Catalog().Buyers["gold"].Ref != gold {
			t.Errorf("number %d, was %d", n, gold)
		}
		if got := x.told(1, 2); got != "gold red" {
			t.Errorf("with the money it had: %s", got)
		}
		for _, id := range []string{"blue", "gold", "red", "amber"} {
			if got := x.state.NameOf(event.ObjectBuyer, x.state.RefOf(event.ObjectBuyer, id)); got != id {
				t.Errorf("%s is called %s", id, got)
			}
		}
	})
}

// What a configuration gives the first value of, it never gives again.
func TestFirstsAreOnlyFirst(t *testing.T) {
	keyed := func(key, secret byte) engine.InitialValues {
		return engine.InitialValues{
			Credentials:     []engine.Credential{*keyOf("acme", key)},
			Secrets:         []engine.InitialSecret{{Name: "blue/auth", Encrypted: []byte{secret}}},
			Balances:        []engine.OpeningBalance{{Buyer: "blue", Amount: market.Money(secret)}},
			PausedCampaigns: []market.CampaignID{"auto"},
			PausedBuyers:    []market.BuyerID{"gold"},
		}
	}
	bubble(t, "all of them", func(t *testing.T) {
		r := three(market.Waterfall)
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain}}
		x := begin(t, r)
		put := func(firsts engine.InitialValues, file string) {
			t.Helper()
			c := x.configuration(r)
			c.Initial = firsts
			c.Lists = map[market.ListID]state.SuppressionFile{"dnc": {File: file, Source: "lines", Entries: 1}}
			if err := x.engine.Configure(c); err != nil {
				t.Fatal(err)
			}
		}
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		stands := func() string {
			secret, _ := x.state.SealedSecret("blue/auth")
			balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
			file, _ := x.state.SuppressionFile(x.state.RefOf(event.ObjectList, "dnc"))
			campaign, _ := x.state.PauseStatus(event.ObjectCampaign, 1)
			buyer, _ := x.state.PauseStatus(event.ObjectBuyer, x.state.RefOf(event.ObjectBuyer, "gold"))
			keys := ""
			for _, c := range x.state.CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, acme) {
				keys += c.Hint
			}
			return fmt.Sprintf("keys %s, secret %v, balance %d, list %s, paused %v %v", keys, secret, balance, file.File, campaign, buyer)
		}
		put(keyed(1, 10), "a")
		first := "keys 1, secret [10], balance 10, list a, paused true true"
		if got := stands(); got != first {
			t.Fatalf("%s, want %s", got, first)
		}
		put(keyed(2, 20), "b")
		x.crash()
		put(keyed(3, 30), "c")
		if got := stands(); got != first {
			t.Errorf("%s, want %s", got, first)
		}
		for _, err := range []error{
			x.engine.By("").RevokeCredential(x.key("acme", "1")), x.engine.By("").SetSecret("blue/auth", []byte{9}), x.engine.By("").TopUp("blue", -4, ""),
			x.engine.By("").Pause(event.ObjectCampaign, "auto", false), x.engine.By("").Pause(event.ObjectBuyer, "gold", false),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		changed := "keys , secret [9], balance 6, list a, paused false false"
		put(keyed(4, 40), "d")
		x.crash()
		put(keyed(5, 50), "e")
		if got := stands(); got != changed {
			t.Errorf("%s, want %s: what was taken back is back", got, changed)
		}
	})
}

func TestKeysAreRotatedWithoutAGap(t *testing.T) {
	bubble(t, "rotate", func(t *testing.T) {
		x := begin(t, three(market.Waterfall))
		live := func() (hints string) {
			for i := range byte(5) {
				if c, ok := x.state.CredentialByHash([32]byte{i}); ok {
					hints += c.Hint
				}
			}
			return hints
		}
		for i, want := range []string{"0", "01", "12", "23"} {
			key := keyOf("acme", byte(i))
			if i >= 2 {
				var full *engine.RotationError
				if err := x.engine.By("").AddCredential(key); !errors.As(err, &full) || len(full.Active) != 2 {
					t.Fatal(err)
				}
				key.Replaces = fmt.Sprint(i - 2)
			}
			if err := x.engine.By("").AddCredential(key); err != nil {
				t.Fatal(err)
			}
			if got := live(); got != want {
				t.Errorf("after key %d: %s, want %s", i, got, want)
			}
			at(t, fmt.Sprintf("2000-01-01 00:00:%02d", i+1))
		}
		if err := x.engine.By("").RevokeCredential(x.key("acme", "2")); err != nil || live() != "3" {
			t.Errorf("%v; %s", err, live())
		}
		x.crash()
		if live() != "3" {
			t.Errorf("after a restart: %s", live())
		}
		for what, err := range map[string]error{
			"a key of nobody":       x.engine.By("").AddCredential(keyOf("nobody", 9)),
			"money of nobody":       x.engine.By("").TopUp("nobody", 1, ""),
			"the pause of nobody":   x.engine.By("").Pause(event.ObjectBuyer, "nobody", true),
			"the word on no lead":   x.engine.By("").Resolve(market.LeadID{}, event.SettledConfirmed),
			"a pause of a supplier": x.engine.By("").Pause(event.ObjectCampaign, "acme", true),
		} {
			if !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestLogIsFoundedOnce(t *testing.T) {
	bubble(t, "found", func(t *testing.T) {
		x := begin(t, three(market.Waterfall))
		if err := x.engine.Found([16]byte{1}); err != nil {
			t.Fatal(err)
		}
		epoch := x.state.FoundedEvent().Epoch
		entries := x.log.len()
		x.crash()
		if err := x.engine.Found([16]byte{1}); err != nil || x.state.FoundedEvent().Epoch != epoch || epoch == [16]byte{} {
			t.Errorf("%v; epoch %x, was %x", err, x.state.FoundedEvent().Epoch, epoch)
		}
		if err := x.engine.Found([16]byte{2}); err == nil {
			t.Error("a log was opened with another's key")
		}
		if x.log.len() != entries {
			t.Error("it was founded again")
		}
	})
}

// keyOf is a supplier's API key, known by a digit.
func keyOf(supplier string, digit byte) *engine.Credential {
	return &engine.Credential{
		Kind: event.CredentialAPIKey, Owner: event.ObjectSupplier, ID: supplier,
		Hash: [32]byte{digit}, Hint: fmt.Sprint(digit),
	}
}

// key is a supplier's live API key, by its digit.
func (x *exchange) key(supplier, hint string) *state.Credential {
	ref := x.state.RefOf(event.ObjectSupplier, supplier)
	for _, c := range x.state.CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, ref) {
		if c.Hint == hint {
			return &c
		}
	}
	panic("no such key: " + hint)
}
