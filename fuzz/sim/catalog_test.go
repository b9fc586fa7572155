package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // time zone data, independent of the machine

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/market/fingerprint"
	"pingpost/internal/must"
)

// secret keys the exchange's hashes.
var secret = [32]byte{4, 5, 6}

// configuration returns the market as the engine's configuration.
func (t *terms) configuration(tb testing.TB) engine.CatalogUpdate {
	tb.Helper()
	c := &market.Catalog{
		Suppliers: map[market.SupplierID]*market.Supplier{}, Buyers: map[market.BuyerID]*market.Buyer{},
		Campaigns: map[market.CampaignID]*market.Campaign{}, Lists: map[market.ListID]*market.SuppressionListDefinition{},
	}
	conf := engine.CatalogUpdate{Catalog: c, Tables: map[market.ListID]*fingerprint.FingerprintTable{}}
	for id, l := range t.suppliers {
		s := &market.Supplier{ID: market.SupplierID(id)}
		if l.has("hooks") {
			s.Webhooks = &market.OutboundEndpoint{URL: "https://" + id + ".example/hooks", Credential: "supplier/" + id + "/webhook"}
		}
		c.Suppliers[s.ID] = s
	}
	for id, l := range t.lists {
		built := &market.SuppressionListDefinition{ID: market.ListID(id), Field: market.ListPhone, Hash: market.HashPlain}
		c.Lists[built.ID] = built
		var prints []uint64
		for _, person := range l.list("persons") {
			prints = append(prints, must.Value(built.FingerprintLine([]byte(phoneOf(person)), &secret))(tb))
		}
		conf.Tables[built.ID] = fingerprint.NewFingerprintTable(prints)
	}
	for id, l := range t.buyers {
		c.Buyers[market.BuyerID(id)] = buyerOf(tb, c, id, l)
		if l.has("funds") {
			conf.Initial.Balances = append(conf.Initial.Balances, engine.BuyerOpeningBalance{Buyer: market.BuyerID(id), Amount: market.Money(l.money("funds"))})
		}
	}
	for id, l := range t.campaigns {
		c.Campaigns[market.CampaignID(id)] = t.campaignOf(tb, c, id, l)
	}
	slices.SortFunc(conf.Initial.Balances, func(a, b engine.BuyerOpeningBalance) int { return cmp.Compare(a.Buyer, b.Buyer) })
	sum := sha256.Sum256([]byte(t.document()))
	conf.Document = hex.EncodeToString(sum[:])
	return conf
}

// document returns the text of the configuration.
func (t *terms) document() string {
	var document strings.Builder
	for _, lines := range []map[string]line{t.suppliers, t.buyers, t.campaigns, t.lists} {
		for _, id := range slices.Sorted(maps.Keys(lines)) {
			document.WriteString(line{verb: lines[id].verb, about: lines[id].about, said: lines[id].said}.String() + "\n")
		}
	}
	for _, l := range t.lineup("") {
		document.WriteString(line{verb: l.verb, about: l.about, said: l.said}.String() + "\n")
	}
	return document.String()
}

// lineup lists a campaign's filter sets in order, or all if campaign is empty.
func (t *terms) lineup(campaign string) (seats []line) {
	for place, l := range t.seats {
		_, known := t.buyers[place[1]]
		if known && (campaign == "" || place[0] == campaign) {
			seats = append(seats, l)
		}
	}
	slices.SortFunc(seats, func(a, b line) int {
		pa, ba := rank(a)
		pb, bb := rank(b)
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(ba, bb), cmp.Compare(a.at(0), b.at(0)))
	})
	return seats
}

func buyerOf(tb testing.TB, c *market.Catalog, id string, l line) *market.Buyer {
	tb.Helper()
	b := &market.Buyer{
		ID: market.BuyerID(id), Name: id, Zone: zoneOf(l.said["zone"]), Funded: l.has("funds"), Credit: market.Money(l.money("credit")),
		Schedule: scheduleOf(tb, l), Caps: capsOf(l, market.ScopeBuyer, l.said["zone"]), PostTimeout: postTimeout,
		Suppression: suppressionOf(c, l.list("refuses")),
	}
	if l.has("posts") {
		b.Post = &market.OutboundEndpoint{URL: "https://" + id + ".example/v1/post", Certified: l.has("certain")}
		if l.has("once") {
			b.Post.AdapterProtocol = &market.AdapterProtocol{Method: "POST", ContentType: "application/json", KeyHeader: "Idempotency-Key"}
		}
	}
	if l.has("pings") {
		b.Ping = &market.OutboundEndpoint{URL: "https://" + id + ".example/v1/ping"}
	}
	return b
}

func (t *terms) campaignOf(tb testing.TB, c *market.Catalog, id string, l line) *market.Campaign {
	tb.Helper()
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{
		{Name: "ref", Type: market.TypeString, Ping: true}, {Name: "vehicles", Type: market.TypeInteger, Ping: true},
	}})
	if len(mistakes) > 0 {
		tb.Fatal(mistakes)
	}
	built := &market.Campaign{
		ID: market.CampaignID(id), Currency: market.Currency{'U', 'S', 'D'}, Zone: zoneOf(l.said["zone"]),
		Floor: market.Money(l.money("floor")), Payout: market.PayoutRule{Share: market.WholeShare}, Method: methods[l.at(1)],
		Suppliers: map[market.SupplierID]struct{}{}, ConsentSources: map[string]struct{}{}, Mapping: mapping,
		Caps: capsOf(l, market.ScopeCampaign, l.said["zone"]), Vertical: id, BidTimeout: 2 * time.Second, PostReserve: time.Second,
		PingReserve: 500 * time.Millisecond,
		Filters:     filtersOf(tb, mapping, l), Suppression: suppressionOf(c, l.list("refuses")), Schedule: scheduleOf(tb, l),
	}
	switch {
	case l.has("fixed"):
		built.Payout = market.PayoutRule{IsFixed: true, Fixed: market.Money(l.money("fixed"))}
	case l.has("share"):
		built.Payout.Share = market.ShareInMillionths(l.money("share"))
	}
	if window := l.duration("duplicates", 0); window > 0 {
		built.Duplicates = market.DuplicateRule{
			Phone: l.said["match"] != "email", Email: l.said["match"] != "phone", All: l.said["match"] == "all", Window: int64(window), PerBuyer: l.said["scope"] == "buyer",
		}
	}
	built.Returns = market.ReturnRule{
		Window: l.duration("returns", 14*24*time.Hour), Manual: l.has("manual"), RestoreCaps: l.has("capback"),
		ReversePayout: l.has("reverse"), MaxShare: market.WholeShare,
	}
	if l.has("returnshare") {
		built.Returns.MaxShare = market.ShareInMillionths(l.money("returnshare"))
	}
	for _, s := range t.lineup(id) {
		states := must.Value(market.ParseUSStatesOrAll(s.list("states")))(tb)
		buyer := c.Buyers[market.BuyerID(s.at(1))]
		priority, _ := rank(s)
		built.FilterSets = append(built.FilterSets, market.FilterSet{
			Buyer: buyer, ID: s.at(2), Priority: int(priority), Weight: int(s.number("weight", 1)), Price: market.Money(s.money("price")),
			States: states, Filters: filtersOf(tb, mapping, s), Caps: capsOf(s, market.ScopePair, l.said["zone"]), Schedule: scheduleOf(tb, s),
			Modifiers: modifiersOf(tb, s),
		})
	}
	return built
}

var methods = map[string]market.BuyerSelectionMethod{
	"waterfall": market.Waterfall, "round_robin": market.RoundRobin, "weighted": market.Weighted, "ping_post": market.PingPost,
}

func suppressionOf(c *market.Catalog, ids []string) (lists []*market.SuppressionListDefinition) {
	for _, id := range ids {
		if l := c.Lists[market.ListID(id)]; l != nil {
			lists = append(lists, l)
		}
	}
	return lists
}

func filtersOf(tb testing.TB, mapping *market.FieldMapping, l line) []market.Filter {
	tb.Helper()
	least, ok := l.said["vehicles"]
	if !ok {
		return nil
	}
	return []market.Filter{must.Value(market.NewFilter(market.FilterSpec{Field: "vehicles", Min: &least}, mapping))(tb)}
}

// scheduleOf parses opening hours such as
// America/New_York;Mon-Fri_08:00-18:00;Sat_10:00-12:00;closed_12-25.
func scheduleOf(tb testing.TB, l line) *calendar.WeeklySchedule {
	tb.Helper()
	return parseHours(tb, l.said["hours"])
}

func parseHours(tb testing.TB, text string) *calendar.WeeklySchedule {
	tb.Helper()
	zone, hours, ok := strings.Cut(text, ";")
	if !ok {
		return nil
	}
	var open, closedOn []string
	for _, one := range strings.Split(hours, ";") {
		if day, isClosed := strings.CutPrefix(one, "closed_"); isClosed {
			closedOn = append(closedOn, day)
		} else {
			open = append(open, strings.ReplaceAll(one, "_", " "))
		}
	}
	return must.Value(calendar.ParseWeeklySchedule(zoneOf(zone), open, closedOn...))(tb)
}

func modifiersOf(tb testing.TB, seat line) (built []market.Modifier) {
	tb.Helper()
	for _, text := range strings.Split(seat.said["modifiers"], "+") {
		if words := strings.Split(text, "|"); len(words) == 3 {
			built = append(built, market.Modifier{During: parseHours(tb, words[0]), Price: market.Factor(moneyOf(words[1])), Caps: market.Factor(moneyOf(words[2]))})
		}
	}
	return built
}

func capsOf(l line, scope market.CapScope, zone string) (built []*market.Cap) {
	units := map[string]market.CapUnit{"count": market.UnitCount, "money": market.UnitMoney}
	for _, c := range limitsOf(l, zone) {
		period, ok := calendar.ParsePeriod(c.period)
		if unit := units[c.unit]; ok && unit != 0 {
			built = append(built, &market.Cap{Scope: scope, Unit: unit, Period: period, Zone: zoneOf(c.zone), Limit: c.most})
		}
	}
	return built
}

// phoneOf and emailOf return a person's phone and e-mail as suppliers send them.
func phoneOf(person string) string {
	return fmt.Sprintf("415%07d", 2_000_000+moneyOf(person)/1_000_000)
}
func emailOf(person string) string { return "p" + person + "@example.com" }
