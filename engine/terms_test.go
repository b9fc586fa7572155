package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// from returns lead n of a supplier and a source; an empty source is absent.
func from(n int, supplier, source string) request {
	if source == "" {
		source = "-"
	}
	return leadRequest(n, "flo_supplier_id", supplier, "source", source).fromSupplier(supplier)
}

// ingestWithPayout returns the buyer and the supplier's payout, or the reason without a sale.
func (x *testExchange) ingestWithPayout(r request) string {
	answer, err := x.ingest(r)
	if err == nil && answer.Accepted {
		return answer.Buyer + " " + answer.Payout.String()
	}
	return describeIngest(answer, err)
}

// twoPrices returns a market of suppliers acme and bolt. Blue buys for 10 and gold for 6, or they bid so.
func twoPrices(method market.BuyerSelectionMethod, entries ...terms) marketSpec {
	r := marketOf(method, buyer{id: "blue", pingEndpoint: true, bid: "10"}, buyer{id: "gold", pingEndpoint: true, bid: "6"})
	r.suppliers = []string{"bolt"}
	c := &r.campaigns[0]
	c.floor, c.payout, c.terms = "5", "0.8", entries
	c.filterSets[0].price, c.filterSets[1].price = "10", "6"
	return r
}

// The first entry with the lead's supplier and source replaces the floor and the payout.
func TestTermsBySupplierAndSource(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries []terms
		want    string // answers to acme without a source and from facebook, and to bolt in the same way
	}{
		{"none", nil, "blue 8, blue 8, blue 8, blue 8"},
		{"a supplier", []terms{{id: "a", suppliers: []string{"acme"}, payout: "0.5"}}, "blue 5, blue 5, blue 8, blue 8"},
		{"a source", []terms{{id: "a", sources: []string{"tiktok", " Facebook "}, payout: "$7"}}, "blue 8, blue 7, blue 8, blue 7"},
		{"both", []terms{{id: "a", suppliers: []string{"bolt"}, sources: []string{"facebook"}, payout: "$10"}}, "blue 8, blue 8, blue 8, blue 10"},
		{"all", []terms{{id: "a", payout: "0.1"}}, "blue 1, blue 1, blue 1, blue 1"},
		{"the first that fits", []terms{
			{id: "a", suppliers: []string{"acme"}, sources: []string{"facebook"}, payout: "0.1"},
			{id: "b", suppliers: []string{"acme"}, payout: "0.2"},
			{id: "c", payout: "0.3"},
		}, "blue 2, blue 1, blue 3, blue 3"},
		{"an exception to later terms", []terms{{id: "a", suppliers: []string{"acme"}}, {id: "b", floor: "11"}}, "blue 8, blue 8, below_floor, below_floor"},
		{"a floor above one price", []terms{{id: "a", sources: []string{"facebook"}, floor: "10"}}, "blue 8, blue 8, blue 8, blue 8"},
		{"a fixed payout above all prices", []terms{{id: "a", sources: []string{"facebook"}, payout: "$10.01"}}, "blue 8, below_floor, blue 8, below_floor"},
		{"a full cap", []terms{{id: "a", suppliers: []string{"bolt"}, caps: []string{"day 0"}}}, "blue 8, blue 8, caps_full, caps_full"},
		{"a full cap on money", []terms{{id: "a", sources: []string{"facebook"}, caps: []string{"day $9.99"}}}, "blue 8, gold 4.8, blue 8, caps_full"},
	} {
		for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.PingPost} {
			runWithExchange(t, test.name+"/"+method.String(), twoPrices(method, test.entries...), func(t *testing.T, x *testExchange) {
				var got []string
				for _, r := range []request{from(1, "acme", ""), from(2, "acme", "facebook"), from(3, "bolt", ""), from(4, "bolt", "FACEBOOK")} {
					got = append(got, x.ingestWithPayout(r))
				}
				expectEqual(t, strings.Join(got, ", "), test.want)
			})
		}
	}
}

// A test lead has the payout and the floor of its terms, and no caps.
func TestTermsOfTestLead(t *testing.T) {
	r := twoPrices(market.Waterfall, terms{id: "a", sources: []string{"facebook"}, payout: "0.5", caps: []string{"total 0"}}, terms{id: "b", floor: "11"})
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		got := []string{x.ingestWithPayout(from(1, "acme", "facebook").asTest()), x.ingestWithPayout(from(2, "acme", "").asTest()), x.ingestWithPayout(from(3, "acme", "facebook"))}
		expectEqual(t, strings.Join(got, ", "), "blue 5, below_floor, caps_full")
	})
}

// A lower floor of the terms lets a price buy that is below the campaign's floor.
func TestTermsLowerFloor(t *testing.T) {
	r := twoPrices(market.Waterfall, terms{id: "a", suppliers: []string{"bolt"}, floor: "6"})
	r.campaigns[0].floor, r.campaigns[0].filterSets[0].states = "8", "NY"
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		expectEqual(t, x.ingestWithPayout(from(1, "acme", ""))+", "+x.ingestWithPayout(from(2, "bolt", "")), "below_floor, gold 4.8")
	})
}

// A ping has the terms of its source. A lead at its bid must have the same terms.
func TestTermsOfPingAndPost(t *testing.T) {
	r := twoPrices(market.PingPost,
		terms{id: "social", sources: []string{"facebook"}, payout: "0.5", caps: []string{"total 3"}},
		terms{id: "search", sources: []string{"google"}, floor: "11"},
		terms{id: "direct", sources: []string{"direct"}, caps: []string{"total 0"}})
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		got := []string{}
		for i, source := range []string{"", "facebook", "google", "direct"} {
			got = append(got, describePing(x.ping(supplierPing(i, "source", source))))
		}
		got = append(got, describePing(x.requestAvailability(availabilityRequest("source", "facebook"))))
		expectEqual(t, strings.Join(got, ", "), "8, 5, below_floor, caps_full, blue:5 gold:3")

		for i, row := range []struct{ ping, post, want string }{
			{"facebook", "", "blue  5"}, // the source is that of the ping
			{"facebook", "FaceBook ", "blue  5"},
			{"", "other", "blue  8"},
			{"", "facebook", "invalid_payload lead.source:ping_mismatch"},
			{"facebook", "other", "invalid_payload lead.source:ping_mismatch"},
		} {
			pairs := []string{}
			if row.ping != "" {
				pairs = []string{"source", row.ping}
			}
			quote, posted := x.pingAuction(supplierPing(20+i, pairs...)), []string{}
			if row.post != "" {
				posted = []string{"source", row.post}
			}
			expectEqual(t, x.saleResult(postFor(20+i, quote, posted...)), row.want, row.ping, " and ", row.post)
		}
	})
}

// The leads of an entry share its caps, across suppliers and sources. A cap belongs to the entry's id.
func TestTermsCaps(t *testing.T) {
	social := terms{id: "social", sources: []string{"facebook", "tiktok"}, caps: []string{"total 2"}}
	rest := terms{id: "rest", suppliers: []string{"bolt"}, caps: []string{"total 1"}}
	market := func(entries ...terms) marketSpec {
		r := twoPrices(market.Waterfall, entries...)
		r.campaigns[0].caps = []string{"total 5"}
		return r
	}
	runWithExchange(t, "", market(social, rest), func(t *testing.T, x *testExchange) {
		sell := func(want string, leads ...request) {
			t.Helper()
			var got []string
			for _, r := range leads {
				got = append(got, x.ingestResult(r))
			}
			expectEqual(t, strings.Join(got, " "), want)
		}
		sell("blue blue caps_full", from(1, "acme", "facebook"), from(2, "bolt", "tiktok"), from(3, "acme", "facebook"))
		sell("blue caps_full blue", from(4, "bolt", ""), from(5, "bolt", "google"), from(6, "acme", "google"))
		x.crashAndRestart()
		sell("caps_full caps_full", from(7, "acme", "tiktok"), from(8, "bolt", ""))
		rest.caps, social.suppliers = []string{"total 2"}, []string{"acme"}
		x.configure(market(rest, social))
		sell("blue caps_full", from(9, "bolt", "facebook"), from(10, "acme", "facebook"))
		social.id = "other"
		x.configure(market(rest, social))
		sell("caps_full", from(11, "acme", "facebook")) // the campaign's cap
	})
}

// A return gives back the caps of the terms and the payout of the sale.
func TestReturnOfLeadWithTerms(t *testing.T) {
	r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.RestoreCaps = true }))
	r.campaigns[0].terms = []terms{{id: "social", sources: []string{"facebook"}, payout: "0.5", caps: []string{"day 1"}}}
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		sold := x.soldLead(1, "source", "facebook")
		expectEqual(t, x.ingestResult(from(2, "acme", "facebook")), "caps_full")
		expectEqual(t, x.reportResult(newReport(sold, "returned")), "returned")
		back := x.lastEvent().(*event.LeadStatusChangesDecided).Changes[0].Return
		expectEqual(t, fmt.Sprint(back.Credit, " ", back.Reverse, " ", len(back.Charges)), "10 5 1")
		expectEqual(t, x.ingestWithPayout(from(3, "acme", "facebook")), "blue 5")
	})
}

// A refused post gives back the cap of the terms, and the next buyer takes it.
func TestTermsCapOfRefusedPost(t *testing.T) {
	r := twoPrices(market.Waterfall, terms{id: "a", caps: []string{"total 1"}}).withPostEndpoints()
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses)
		expectEqual(t, x.ingestResult(from(1, "acme", ""))+" "+x.ingestResult(from(2, "acme", "")), "gold caps_full")
	})
}

// termsModel is the naive model of a waterfall campaign with terms.
type termsModel struct {
	spec marketSpec
	sold map[string]int // by the entry's id
}

func (m *termsModel) decide(t testing.TB, supplier, source string) string {
	c, entry := &m.spec.campaigns[0], terms{}
	for _, each := range c.terms {
		if (each.suppliers == nil || slices.Contains(each.suppliers, supplier)) && (each.sources == nil || slices.Contains(each.sources, source)) {
			entry = each
			break
		}
	}
	floor, rule := money(t, c.floor), payout(t, c.payout)
	if entry.floor != "" {
		floor = money(t, entry.floor)
	}
	if entry.payout != "" {
		rule = payout(t, entry.payout)
	}
	for _, limit := range caps(t, market.ScopeTerms, entry.caps) {
		if m.sold[entry.id] >= int(limit.Limit) {
			return "caps_full"
		}
	}
	for _, s := range c.filterSets {
		price := money(t, s.price)
		if amount, covered := rule.AmountAtPrice(price); covered && price >= floor {
			m.sold[entry.id]++
			return s.buyer + " " + amount.String()
		}
	}
	return "below_floor"
}

func TestTermsMatchModel(t *testing.T) {
	suppliers, sources := []string{"acme", "bolt"}, []string{"", "facebook", "google"}
	someOrAll := func(t *rapid.T, names []string) []string {
		if rapid.Bool().Draw(t, "all") {
			return nil
		}
		return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID).Draw(t, "names")
	}
	rapid.Check(t, func(rt *rapid.T) {
		var entries []terms
		for i := range rapid.IntRange(0, 4).Draw(rt, "entries") {
			entry := terms{id: fmt.Sprint("t", i), suppliers: someOrAll(rt, suppliers), sources: someOrAll(rt, sources[1:])}
			entry.floor = rapid.SampledFrom([]string{"", "6", "10", "11"}).Draw(rt, "floor")
			entry.payout = rapid.SampledFrom([]string{"", "0.5", "$6", "$10", "$12"}).Draw(rt, "payout")
			if n := rapid.IntRange(0, 6).Draw(rt, "cap"); n < 5 {
				entry.caps = []string{fmt.Sprint("total ", n)}
			}
			entries = append(entries, entry)
		}
		method := rapid.SampledFrom([]market.BuyerSelectionMethod{market.Waterfall, market.PingPost}).Draw(rt, "method")
		leads := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]string {
			return [2]string{rapid.SampledFrom(suppliers).Draw(t, "supplier"), rapid.SampledFrom(sources).Draw(t, "source")}
		}), 1, 30).Draw(rt, "leads")
		mistake := ""
		synctest.Test(t, func(t *testing.T) {
			r := twoPrices(method, entries...)
			x, model := newExchange(t, r), termsModel{spec: r, sold: map[string]int{}}
			for i, lead := range leads {
				if got, want := x.ingestWithPayout(from(i, lead[0], lead[1])), model.decide(t, lead[0], lead[1]); got != want {
					mistake = fmt.Sprintf("%v: %s, want %s with %+v", lead, got, want, entries)
					return
				}
			}
		})
		if mistake != "" {
			rt.Fatal(mistake)
		}
	})
}

// A dry run decides by the terms of the lead.
func TestDryRunWithTerms(t *testing.T) {
	runWithExchange(t, "", twoPrices(market.Waterfall, terms{id: "social", sources: []string{"facebook"}, floor: "9"}), func(t *testing.T, x *testExchange) {
		var got []string
		for _, source := range []string{"", "facebook"} {
			decision := must.Value(x.engine.DryRunTestLead(x.ingestRequest(from(1, "acme", source))))(t)
			rule := decision.FilterSets[1].Rule
			got = append(got, string(decision.Buyer))
			if rule != nil {
				got = append(got, rule.Text)
			}
		}
		expectEqual(t, strings.Join(got, "; "), "blue; blue; price: required at least the floor of 9 USD in terms social, got 6 USD")
	})
}
