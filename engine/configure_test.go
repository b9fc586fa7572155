package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// eventKinds returns the kinds of the log's events from the index on.
func (x *testExchange) eventKinds(from int) (eventKinds []event.Kind) {
	x.t.Helper()
	for _, record := range decodeAll(x.t, x.log.durable()[from:]) {
		eventKinds = append(eventKinds, record.Kind())
	}
	return eventKinds
}

func TestConfigurationIsLoggedOnce(t *testing.T) {
	runInVirtualTime(t, "the same again", func(t *testing.T) {
		r := twoPostBuyers()
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain}}
		x := newExchange(t, r)
		expectEqual(t, fmt.Sprint(x.eventKinds(0)), "[names_given funds_moved funds_moved catalog_set]", "at first")
		entries := x.log.len()
		x.configure(r)
		x.crashAndRestart()
		x.configure(r)
		if got := x.eventKinds(entries); len(got) != 0 {
			t.Errorf("an equal document logs %v", got)
		}
		expectEqual(t, x.engine.ActiveCatalogOrNil().Version, 1, "version")
		r.campaigns[0].floor = "1"
		x.configure(r)
		if got := fmt.Sprint(x.eventKinds(entries)); got != "[catalog_set]" || x.engine.ActiveCatalogOrNil().Version != 2 {
			t.Errorf("another floor logs %s, version %d", got, x.engine.ActiveCatalogOrNil().Version)
		}
		r.buyers = append(r.buyers, buyer{id: "red", caps: []string{"day 1"}, funds: "1"})
		x.configure(r)
		expectEqual(t, fmt.Sprint(x.eventKinds(entries)), "[catalog_set names_given funds_moved catalog_set]", "another buyer logs")
	})
	runInVirtualTime(t, "many names", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		for i := range 2500 {
			r.suppliers = append(r.suppliers, fmt.Sprintf("sup%04d", i))
		}
		x := newExchange(t, r)
		expectEqual(t, fmt.Sprint(x.eventKinds(0)), "[names_given names_given catalog_set]")
		x.crashAndRestart()
		expectEqual(t, x.ingestResult(leadRequest(1, "flo_supplier_id", "sup2499").fromSupplier("sup2499")), "blue")
	})
}

// Scope, unit, period and zone identify a cap. A new limit keeps its usage.
func TestNewCapLimitKeepsUsage(t *testing.T) {
	tests := []struct {
		name string
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
			runWithExchange(t, test.name+" of the "+where, cappedMarket(where, "day 2"), func(t *testing.T, x *testExchange) {
				expectEqual(t, x.ingestResults(1, 3), "blue blue caps_full")
				x.configure(marketSpec{buyers: []buyer{{id: "gold"}}, campaigns: []campaign{{id: "home", method: market.Waterfall}}})
				x.configure(cappedMarket(where, test.cap))
				expectEqual(t, x.ingestResults(11, 2), test.want)
				x.configure(cappedMarket(where, "day 2"))
				expectEqual(t, x.ingestResults(21, 1), "caps_full", "back under the first cap")
			})
		}
	}
}

// A name keeps its permanent number, and with it its balance.
func TestRemovedBuyerKeepsNumberAndBalance(t *testing.T) {
	runInVirtualTime(t, "removed and added again", func(t *testing.T) {
		full := threeBuyers(market.Waterfall)
		full.buyers[1].funds = "10"
		x := newExchange(t, full)
		gold := x.state.RefOf(event.ObjectBuyer, "gold")
		without := threeBuyers(market.Waterfall)
		without.buyers = []buyer{{id: "blue"}, {id: "amber"}, {id: "red"}}
		without.campaigns[0].filterSets[1].buyer = "amber"
		x.configure(without)
		expectEqual(t, x.state.RefOf(event.ObjectBuyer, "amber"), 4, "a new buyer has number")
		x.crashAndRestart()
		full.campaigns[0].filterSets = full.campaigns[0].filterSets[1:]
		full.buyers[1].funds = "70"
		x.configure(full)
		if n := x.state.RefOf(event.ObjectBuyer, "gold"); n != gold || x.engine.ActiveCatalogOrNil().Buyers["gold"].Ref != gold {
			t.Errorf("number %d, was %d", n, gold)
		}
		expectEqual(t, x.ingestResults(1, 2), "gold red", "with the money it had")
		for _, id := range []string{"blue", "gold", "red", "amber"} {
			expectEqual(t, x.state.NameOf(event.ObjectBuyer, x.state.RefOf(event.ObjectBuyer, id)), id, "name")
		}
	})
}

// A configuration sets initial values only once.
func TestInitialValuesAreSetOnce(t *testing.T) {
	keyed := func(key, secret byte) engine.InitialValues {
		return engine.InitialValues{
			Credentials:     []engine.Credential{*newAPIKey("acme", key)},
			Secrets:         []engine.InitialOutboundSecret{{Name: "blue/auth", Encrypted: []byte{secret}}},
			Balances:        []engine.BuyerOpeningBalance{{Buyer: "blue", Amount: market.Money(secret)}},
			PausedCampaigns: []market.CampaignID{"auto"},
			PausedBuyers:    []market.BuyerID{"gold"},
		}
	}
	runInVirtualTime(t, "all of them", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain}}
		x := newExchange(t, r)
		put := func(firsts engine.InitialValues, file string) {
			t.Helper()
			c := x.configuration(r)
			c.Initial = firsts
			c.Lists = map[market.ListID]state.SuppressionListFile{"dnc": {File: file, Source: "lines", Entries: 1}}
			must.Succeed(t, x.engine.Configure(c))
		}
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		current := func() string {
			secret, _ := x.state.SealedSecret("blue/auth")
			balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
			file, _ := x.state.SuppressionListFile(x.state.RefOf(event.ObjectList, "dnc"))
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
		expectEqual(t, current(), first)
		put(keyed(2, 20), "b")
		x.crashAndRestart()
		put(keyed(3, 30), "c")
		expectEqual(t, current(), first)
		for _, err := range []error{
			x.engine.AsOperator("").RevokeCredential(x.apiKey("acme", "1")), x.engine.AsOperator("").SetOutgoingSecret("blue/auth", []byte{9}), x.engine.AsOperator("").AdjustBuyerFunds("blue", -4, ""),
			x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "auto", false), x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", false),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		changed := "keys , secret [9], balance 6, list a, paused false false"
		put(keyed(4, 40), "d")
		x.crashAndRestart()
		put(keyed(5, 50), "e")
		expectEqual(t, current(), changed, "after changes by the operator")
	})
}

func TestAPIKeyRotationKeepsPreviousKey(t *testing.T) {
	runWithExchange(t, "rotate", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		live := func() (hints string) {
			for i := range byte(5) {
				if c, ok := x.state.CredentialByHash([32]byte{i}); ok {
					hints += c.Hint
				}
			}
			return hints
		}
		for i, want := range []string{"0", "01", "12", "23"} {
			key := newAPIKey("acme", byte(i))
			if i >= 2 {
				var full *engine.TooManyCredentialsError
				if err := x.engine.AsOperator("").AddCredential(key); !errors.As(err, &full) || len(full.Active) != 2 {
					t.Fatal(err)
				}
				key.Replaces = fmt.Sprint(i - 2)
			}
			must.Succeed(t, x.engine.AsOperator("").AddCredential(key))
			expectEqual(t, live(), want, "after key ", i)
			sleepUntil(t, fmt.Sprintf("2000-01-01 00:00:%02d", i+1))
		}
		if err := x.engine.AsOperator("").RevokeCredential(x.apiKey("acme", "2")); err != nil || live() != "3" {
			t.Errorf("%v; %s", err, live())
		}
		x.crashAndRestart()
		expectEqual(t, live(), "3", "after a restart")
		for name, err := range map[string]error{
			"API key of an unknown supplier": x.engine.AsOperator("").AddCredential(newAPIKey("nobody", 9)),
			"top-up of an unknown buyer":     x.engine.AsOperator("").AdjustBuyerFunds("nobody", 1, ""),
			"pause of an unknown buyer":      x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "nobody", true),
			"the word on no lead":            x.engine.AsOperator("").ResolveUnconfirmedDelivery(market.LeadID{}, event.SettledConfirmed),
			"a pause of a supplier":          x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "acme", true),
		} {
			expectError(t, err, engine.ErrNotFound, name)
		}
	})
}

func TestFoundedEventIsLoggedOnce(t *testing.T) {
	runWithExchange(t, "found", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		must.Succeed(t, x.engine.InitializeLogOrCheckKey([16]byte{1}))
		epoch := x.state.FoundedEvent().Epoch
		entries := x.log.len()
		x.crashAndRestart()
		if err := x.engine.InitializeLogOrCheckKey([16]byte{1}); err != nil || x.state.FoundedEvent().Epoch != epoch || epoch == [16]byte{} {
			t.Errorf("%v; epoch %x, was %x", err, x.state.FoundedEvent().Epoch, epoch)
		}
		if err := x.engine.InitializeLogOrCheckKey([16]byte{2}); err == nil {
			t.Error("a log was opened with another exchange's key")
		}
		expectEqual(t, x.log.len(), entries, "log entries")
	})
}

// newAPIKey returns a supplier's API key whose hint is the digit.
func newAPIKey(supplier string, digit byte) *engine.Credential {
	return &engine.Credential{
		Kind: event.CredentialAPIKey, Owner: event.ObjectSupplier, ID: supplier,
		Hash: [32]byte{digit}, Hint: fmt.Sprint(digit),
	}
}

// apiKey returns the supplier's live API key with the hint.
func (x *testExchange) apiKey(supplier, hint string) *state.Credential {
	ref := x.state.RefOf(event.ObjectSupplier, supplier)
	for _, c := range x.state.CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, ref) {
		if c.Hint == hint {
			return &c
		}
	}
	panic("no such key: " + hint)
}
