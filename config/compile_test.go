package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

func TestDefaults(t *testing.T) {
	exchange := compileText(t, base, nil)
	s, b, c := exchange.Settings, exchange.Catalog.Buyers["buy_a"], exchange.Catalog.Campaigns["cmp"]
	set, returns := c.FilterSets[0], exchange.Document.Campaigns[0].Returns
	checkAll(t, exchange.Catalog, map[string]bool{
		"settings": s.DataDir == "data" && s.Listen == "127.0.0.1:8080" && s.AdminListen == "127.0.0.1:9090" && s.Tenant == "production",
		"sandbox":  compileText(t, "sandbox: true\n", nil).Settings.Tenant == "sandbox",
		"limits": s.Limits == ServerLimitSettings{
			Body: 65536, Answer: 65536, Header: 16384, Connections: 10_000, MaxConnsPerIP: 1_000, AuthFailures: 100, Documents: 50,
			ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		},
		"supplier":   *exchange.Catalog.Suppliers["sup_a"] == market.Supplier{ID: "sup_a", Name: "sup_a", IngestRate: 100, PingRate: 100, ByteRate: 1600 << 10, ConcurrentAuctions: 1000},
		"buyer":      !b.Funded && b.Schedule == nil && b.Caps == nil && b.PostTimeout == 10*time.Second && b.Zone == time.UTC,
		"endpoint":   b.Post.Credential == "" && b.Post.Header == "",
		"campaign":   c.Suppliers == nil && c.Currency.String() == "USD" && c.Zone == time.UTC && c.Floor == 0 && c.Payout == market.PayoutRule{Share: market.WholeShare},
		"filter set": set.Priority == 1 && set.Weight == 1 && set.Price == 0 && set.States == market.AllStates,
		"returns":    returns.Window.OrZero() == 14*schema.Day && returns.Approval == "auto" && !returns.CapBack && *returns.ReversePayout && *returns.MaxSharePerMonth == 1_000_000,
	})
}

func TestFilterSetsAreSortedByPriorityThenID(t *testing.T) {
	for _, c := range []struct{ buyers, want string }{
		{"{buyer: z}, {buyer: a}, {buyer: m}", "z1 a2 m3"},
		{"{buyer: z, priority: 9}, {buyer: a}, {buyer: m}", "a2 m3 z9"},
		{"{buyer: z, priority: 5}, {buyer: m, priority: 0}, {buyer: a, priority: 5}", "m0 a5 z5"},
	} {
		exchange := compileText(t, "buyers: [{id: a}, {id: m}, {id: z}]\ncampaigns: [{id: c, method: waterfall, buyers: ["+c.buyers+"]}]\n", nil)
		var got []string
		for _, set := range exchange.Catalog.Campaigns["c"].FilterSets {
			got = append(got, fmt.Sprint(set.Buyer.ID, set.Priority))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.buyers, got, c.want)
		}
	}
}

func TestPayoutAndDuplicates(t *testing.T) {
	for _, c := range []struct {
		keys    string
		payout  market.PayoutRule
		repeats market.DuplicateRule
	}{
		{"payout: {fixed: 6.50}", market.PayoutRule{Fixed: 6_500_000, IsFixed: true}, market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * schema.Day)}},
		{"payout: {fixed: 0}", market.PayoutRule{IsFixed: true}, market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * schema.Day)}},
		{"payout: {share: 0}", market.PayoutRule{}, market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * schema.Day)}},
		{"duplicates: {fields: [email], match: all, scope: buyer, window: 1d12h}", market.PayoutRule{Share: market.WholeShare}, market.DuplicateRule{Email: true, All: true, PerBuyer: true, Window: int64(36 * time.Hour)}},
		{"duplicates: {window: 0}", market.PayoutRule{Share: market.WholeShare}, market.DuplicateRule{Phone: true, Email: true}},
	} {
		campaign := compileText(t, base+"    "+c.keys+"\n", nil).Catalog.Campaigns["cmp"]
		if campaign.Payout != c.payout || campaign.Duplicates != c.repeats {
			t.Errorf("%s: %+v %+v", c.keys, campaign.Payout, campaign.Duplicates)
		}
	}
}

func TestPausedIsInitialValue(t *testing.T) {
	exchange := compileText(t, baseWithBuyer("paused: true")+"    paused: true\n", nil)
	if !slices.Equal(exchange.Initial.Paused.Buyers, []market.BuyerID{"buy_a"}) || !slices.Equal(exchange.Initial.Paused.Campaigns, []market.CampaignID{"cmp"}) {
		t.Errorf("%+v", exchange.Initial.Paused)
	}
}

func TestBuyerAuth(t *testing.T) {
	for _, c := range []struct {
		auth   string
		post   market.OutboundEndpoint
		secret string
	}{
		{"auth: {bearer: tok}", market.OutboundEndpoint{Credential: "buyer/buy_a/bearer", Header: "Authorization", Scheme: "Bearer "}, "tok"},
		{"auth: {api_key: key}", market.OutboundEndpoint{Credential: "buyer/buy_a/api_key", Header: "x-api-key"}, "key"},
		{"auth: {api_key: key, header: X-Other}", market.OutboundEndpoint{Credential: "buyer/buy_a/api_key", Header: "X-Other"}, "key"},
		{"auth: {api_key: key, header: Authorization}", market.OutboundEndpoint{Credential: "buyer/buy_a/api_key", Header: "Authorization"}, "key"},
		{
			`auth: {oauth: {token_url: "https://t.example", client_id: c, client_secret: "a b"}}`,
			market.OutboundEndpoint{Credential: "buyer/buy_a/oauth", Header: "Authorization", Scheme: "Bearer ", OAuth: &market.OutboundOAuthClient{TokenURL: "https://t.example", ClientID: "c"}},
			"a b",
		},
	} {
		exchange := compileText(t, baseWithBuyer(c.auth), nil)
		c.post.URL = "https://a.example/v1/post"
		if got := exchange.Catalog.Buyers["buy_a"].Post; !reflect.DeepEqual(got, &c.post) {
			t.Errorf("%s: %+v", c.auth, got)
		}
		if got := exchange.Initial.Secrets; len(got) != 1 || got[0].Name != c.post.Credential || got[0].Value.Reveal() != c.secret {
			t.Errorf("%s: %+v", c.auth, got)
		}
	}
}

func TestBuyerAddresses(t *testing.T) {
	for _, c := range []struct{ keys, ping, post string }{
		{`endpoint: "https://a.example"`, "https://a.example/v1/ping", "https://a.example/v1/post"},
		{`endpoint: "https://a.example/x/"`, "https://a.example/x/v1/ping", "https://a.example/x/v1/post"},
		{`ping_url: "https://a.example/p?k=1", post_url: "https://b.example/q"`, "https://a.example/p?k=1", "https://b.example/q"},
		{`post_url: "https://b.example/q"`, "", "https://b.example/q"},
		{`name: recorded only`, "", ""},
	} {
		exchange := compileText(t, "buyers: [{id: a, "+c.keys+"}]\n", nil)
		document, buyer := exchange.Document.Buyers[0], exchange.Catalog.Buyers["a"]
		if document.CanBid() != (c.ping != "") || urlOf(buyer.Ping) != c.ping || urlOf(buyer.Post) != c.post {
			t.Errorf("%s: %q %q", c.keys, urlOf(buyer.Ping), urlOf(buyer.Post))
		}
		if buyer.TestPing != nil || buyer.TestPost != nil {
			t.Errorf("%s: unexpected test endpoints %q and %q", c.keys, urlOf(buyer.TestPing), urlOf(buyer.TestPost))
		}
	}
}

func urlOf(e *market.OutboundEndpoint) string {
	if e == nil {
		return ""
	}
	return e.URL
}

// TestZones: the zone of a cap, schedule or modifier defaults to that of its buyer or campaign.
func TestZones(t *testing.T) {
	exchange := compileText(t, `buyers:
  - {id: a, time_zone: Asia/Kolkata, caps: [{per: day, count: 1}, {per: day, count: 1, time_zone: Asia/Tokyo}]}
campaigns:
  - id: c
    method: weighted
    time_zone: America/New_York
    caps: [{per: week, money: 1.5}]
    buyers: [{buyer: a, caps: [{per: total, count: 3}, {per: hour, count: 3, time_zone: UTC}]}]
`, nil)
	campaign := exchange.Catalog.Campaigns["c"]
	var got []string
	for _, limit := range slices.Concat(exchange.Catalog.Buyers["a"].Caps, campaign.Caps, campaign.FilterSets[0].Caps) {
		got = append(got, fmt.Sprint(limit.Scope, " ", limit.Unit, " ", limit.Period, " ", limit.Zone, " ", limit.Limit))
	}
	want := []string{
		"buyer count day Asia/Kolkata 1", "buyer count day Asia/Tokyo 1",
		"campaign money week America/New_York 1500000",
		"pair count total America/New_York 3", "pair count hour UTC 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("caps:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC).UnixNano() // a Monday
	for zone, want := range map[string]bool{"": false, "time_zone: UTC, ": true} {
		set := compileText(t, "buyers: [{id: a}]\ncampaigns: [{id: c, method: weighted, time_zone: Asia/Tokyo, buyers: [{buyer: a, schedule: {"+zone+"open: [\"Mon 11:00-13:00\"]}, modifiers: [{"+zone+"during: [\"Mon 11:00-13:00\"], caps: 0.5}]}]}]\n", nil).Catalog.Campaigns["c"].FilterSets[0]
		if open, _ := set.Schedule.IsOpenAt(noon); open != want {
			t.Errorf("schedule with %q: open %t", zone, open)
		}
		if index, _ := set.ModifierAt(noon); (index == 0) != want || set.Modifiers[0].Price != market.UnchangedFactor || set.Modifiers[0].Caps != 500_000 {
			t.Errorf("modifier with %q: %d of %+v is in force", zone, index, set.Modifiers)
		}
	}
}

// TestFilterSetCombinesBuyerAndCampaignEntry: states intersect, and filters of both apply.
func TestFilterSetCombinesBuyerAndCampaignEntry(t *testing.T) {
	exchange := compileText(t, `buyers: [{id: a, states: [CA, NV], filters: [{field: source, in: [x]}, {field: owns, in: [true]}]}]
campaigns:
  - id: c
    method: weighted
    fields: [{name: homeowner, to: owns, type: boolean}]
    buyers: [{buyer: a, states: [NV, NY], filters: [{field: zip, absent: true}]}]
`, nil)
	set := exchange.Catalog.Campaigns["c"].FilterSets[0]
	nevada := market.USStateSet(0).WithState(market.ParseUSStateCode([]byte("NV")))
	if set.States != nevada {
		t.Errorf("states %b", set.States)
	}
	var slots []market.LeadFieldIndex
	for i := range set.Filters {
		slots = append(slots, set.Filters[i].FieldSlot())
	}
	slices.Sort(slots)
	if !slices.Equal(slots, []market.LeadFieldIndex{market.SlotSource, market.SlotZip, market.FirstCustomSlot}) {
		t.Errorf("filters on %v", slots)
	}
}

func TestPathsAreRelativeToFile(t *testing.T) {
	text := []byte("data_dir: ../data\nsuppression_lists: [{id: a, field: email, file: l.txt}, {id: b, field: email, file: /x/l.txt}, {id: c, field: email}]\n")
	exchange := mustCompile(t)(Parse("/etc/exchange/main.yaml", text, nil))
	if exchange.Settings.DataDir != "/etc/data" {
		t.Errorf("data in %s", exchange.Settings.DataDir)
	}
	if got := fmt.Sprint(exchange.Initial.Lists); got != "[{a /etc/exchange/l.txt /etc/exchange/main.yaml:2:49: suppression_lists[0].file: } {b /x/l.txt /etc/exchange/main.yaml:2:85: suppression_lists[1].file: }]" {
		t.Errorf("lists: %s", got)
	}
	if len(exchange.Catalog.Lists) != 3 || exchange.Catalog.Lists["b"].Hash != market.HashPlain {
		t.Errorf("lists: %v", exchange.Catalog.Lists)
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load("testdata/none.yaml", nil)
	if err == nil || !strings.HasPrefix(err.Error(), "testdata/none.yaml: cannot be read: no such file") {
		t.Errorf("got %v", err)
	}
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		t.Errorf("not *Problems: %T", err)
	}
}

func TestPositionsInJSON(t *testing.T) {
	text := "{\n  \"tenant\": \"é\", \"listen\": 5,\n  \"suppliers\": [\n    {\"id\": \"a\"},\n    {\"id\": \"b\", \"nme\": \"x\"}\n  ]\n}"
	_, err := Parse("body", []byte(text), nil)
	want := "body:2:13: tenant: is not an id; use 1 to 64 letters, digits, _, - or .\n" +
		"body:2:28: listen: expected text, found a number; put it in quotes\n" +
		"body:5:17: suppliers[1].nme: unknown key; is name meant?"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestDefaultByteRate: the default follows the request rates, so that a supplier with higher
// rates does not reach the byte limit first.
func TestDefaultByteRate(t *testing.T) {
	for text, want := range map[string]int{
		"{id: a}":                                           200 * 8 << 10,
		"{id: a, ingest_rate: 1, ping_rate: 1}":             400 << 10,
		"{id: a, ingest_rate: 1000}":                        1100 * 8 << 10,
		"{id: a, ingest_rate: 1000000, ping_rate: 1000000}": 1 << 30,
		"{id: a, byte_rate: 70KiB}":                         70 << 10,
	} {
		supplier := compileText(t, "suppliers:\n  - "+text+"\n", nil).Catalog.Suppliers["a"]
		if supplier.ByteRate != want {
			t.Errorf("%s: byte_rate %d, want %d", text, supplier.ByteRate, want)
		}
	}
}
