package engine_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // time zones on machines without a zone database

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/market/fingerprint"
	"pingpost/internal/must"
)

// marketSpec describes a configuration. Zero values stand for the usual case.
type marketSpec struct {
	buyers             []buyer
	campaigns          []campaign
	lists              []list
	suppliers          []string // besides "acme"
	testSuppliers      []string // suppliers that send only test leads
	concurrentAuctions int      // per supplier; zero: the default
	webhooks           bool     // suppliers receive webhooks
}

type buyer struct {
	id            string
	postEndpoint  bool   // false: leads are only recorded
	certified     bool   // certifies its answers to repeats
	noRepeats     bool   // takes a repeated post for a second lead
	pingEndpoint  bool   // receives pings
	bid           string // first bid; empty: 10
	testEndpoints bool   // has test endpoints for its endpoints
	pingRate      int    // per second; zero: unlimited
	adapter       market.BodyTemplate
	protocol      *market.AdapterProtocol // of the ping endpoint
	funds         string                  // opening balance; empty: not prepaid
	credit        string
	caps          []string // "day 5", "total $20", "hour 3 America/New_York"
	schedule      string   // "America/New_York Mon-Fri 08:00-18:00, Sat 10:00-12:00, closed 12-25"
	suppress      []string // suppression lists
	timeout       time.Duration
}

type campaign struct {
	id         string // empty: "auto"
	method     market.BuyerSelectionMethod
	floor      string
	payout     string // "0.8" or "$6.50"; empty: all of the price
	terms      []terms
	suppliers  []string
	caps       []string
	schedule   string
	filters    []market.FilterSpec
	suppress   []string
	duplicates market.DuplicateRule
	consent    []string
	unknown    market.UnknownMemberPolicy
	filterSets []filterSet

	returns     *market.ReturnRule // nil: the default
	vertical    string             // empty: auto_insurance
	subVertical string             // line of business
	timeout     time.Duration      // of auctions; zero: 2 s
	postReserve time.Duration      // for the post; zero: 1 s
	pingReserve time.Duration      // PingReserve; zero: 500 ms
}

// terms replaces the floor and the payout of the campaign, and adds caps. Empty values are the campaign's.
type terms struct {
	id, floor, payout        string
	suppliers, sources, caps []string
}

type filterSet struct {
	buyer     string
	id        string
	price     string // empty: 10
	weight    int
	states    string // empty: all
	filters   []market.FilterSpec
	caps      []string
	schedule  string
	modifiers []modifier
	priority  *int // nil: its index

	suppliers, notSuppliers []string
}

type modifier struct{ during, price, caps string } // during as a schedule; empty factors: 1

type list struct {
	id      string
	field   market.SuppressionListField
	hash    market.SuppressionHashKind
	entries []string
}

// fields are the fields of all campaigns in these tests.
var fields = []market.FieldSpec{
	{Name: "vehicles", Type: market.TypeInteger},
	{Name: "homeowner", Type: market.TypeBoolean, NameForBuyers: "owns_home"},
	{Name: "born", Type: market.TypeDate, Ping: true},
}

func money(t testing.TB, text string) market.Money {
	t.Helper()
	if text == "" {
		return 0
	}
	return must.Value(market.ParseMoney([]byte(text)))(t)
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	return must.Value(time.LoadLocation(name))(t)
}

// catalog builds a new catalog each time, because the engine numbers and keeps it.
func (r marketSpec) catalog(t testing.TB) *market.Catalog {
	t.Helper()
	c := &market.Catalog{
		Suppliers: map[market.SupplierID]*market.Supplier{}, Buyers: map[market.BuyerID]*market.Buyer{},
		Campaigns: map[market.CampaignID]*market.Campaign{}, Lists: map[market.ListID]*market.SuppressionListDefinition{},
	}
	for _, id := range append([]string{"acme"}, r.suppliers...) {
		c.Suppliers[market.SupplierID(id)] = &market.Supplier{ID: market.SupplierID(id), ConcurrentAuctions: r.concurrentAuctions}
		if r.webhooks {
			c.Suppliers[market.SupplierID(id)].Webhooks = webhookEndpoint(id)
		}
	}
	for _, id := range r.testSuppliers {
		c.Suppliers[market.SupplierID(id)] = &market.Supplier{ID: market.SupplierID(id), Test: true}
	}
	for _, l := range r.lists {
		c.Lists[market.ListID(l.id)] = &market.SuppressionListDefinition{ID: market.ListID(l.id), Field: l.field, Hash: l.hash}
	}
	for _, b := range r.buyers {
		c.Buyers[market.BuyerID(b.id)] = b.build(t, c)
	}
	for _, form := range r.campaigns {
		built := form.build(t, c)
		c.Campaigns[built.ID] = built
	}
	return c
}

func (b buyer) build(t testing.TB, c *market.Catalog) *market.Buyer {
	t.Helper()
	built := &market.Buyer{
		ID: market.BuyerID(b.id), Name: b.id, Zone: time.UTC,
		Funded: b.funds != "", Credit: money(t, b.credit),
		Schedule: schedule(t, b.schedule), Caps: caps(t, market.ScopeBuyer, b.caps),
		Suppression: listsOf(t, c, b.suppress),
		PostTimeout: cmp.Or(b.timeout, 10*time.Second),
	}
	if b.postEndpoint {
		built.Post = endpointOf(b.id)
		built.Post.Certified = b.certified
		if b.noRepeats {
			built.Post.AdapterProtocol = &market.AdapterProtocol{Method: "POST", ContentType: "application/json", KeyHeader: "Idempotency-Key"}
		}
	}
	if b.pingEndpoint {
		built.Ping, built.PingRate = pingEndpointOf(b.id), b.pingRate
		built.Ping.Adapter, built.Ping.AdapterProtocol = b.adapter, b.protocol
	}
	if b.testEndpoints && b.postEndpoint {
		built.TestPost = endpointOf(testBuyerID(b.id))
	}
	if b.testEndpoints && b.pingEndpoint {
		built.TestPing = pingEndpointOf(testBuyerID(b.id))
	}
	return built
}

func (form campaign) build(t testing.TB, c *market.Catalog) *market.Campaign {
	t.Helper()
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: fields, Unknown: form.unknown})
	if len(mistakes) > 0 {
		t.Fatalf("mapping: %v", mistakes)
	}
	built := &market.Campaign{
		ID: market.CampaignID(cmp.Or(form.id, "auto")), Method: form.method, Currency: market.Currency{'U', 'S', 'D'},
		Zone: time.UTC, Floor: money(t, form.floor), Payout: payout(t, form.payout),
		Suppliers: map[market.SupplierID]struct{}{}, ConsentSources: map[string]struct{}{},
		Suppression: listsOf(t, c, form.suppress), Duplicates: form.duplicates, Mapping: mapping,
		Filters: filters(t, mapping, form.filters), Caps: caps(t, market.ScopeCampaign, form.caps), Schedule: schedule(t, form.schedule),
		Vertical: cmp.Or(form.vertical, "auto_insurance"), SubVertical: form.subVertical,
		BidTimeout: cmp.Or(form.timeout, 2*time.Second), PostReserve: cmp.Or(form.postReserve, time.Second),
		PingReserve: cmp.Or(form.pingReserve, 500*time.Millisecond),
	}
	built.Returns = market.DefaultReturnRule()
	if form.returns != nil {
		built.Returns = *form.returns
	}
	for _, id := range form.suppliers {
		built.Suppliers[market.SupplierID(id)] = struct{}{}
	}
	for _, source := range form.consent {
		built.ConsentSources[source] = struct{}{}
	}
	for _, entry := range form.terms {
		built.Terms = append(built.Terms, market.Terms{
			ID: entry.id, Suppliers: suppliersOf(entry.suppliers), Sources: sourcesOf(entry.sources),
			Floor: money(t, cmp.Or(entry.floor, form.floor)), Payout: payout(t, cmp.Or(entry.payout, form.payout)), Caps: caps(t, market.ScopeTerms, entry.caps),
		})
	}
	for i, s := range form.filterSets {
		states := market.AllStates
		if s.states != "" {
			states = must.Value(market.ParseUSStatesOrAll(strings.Fields(s.states)))(t)
		}
		named := c.Buyers[market.BuyerID(s.buyer)]
		if named == nil {
			t.Fatalf("filter set of the unknown buyer %q", s.buyer)
		}
		priority := i
		if s.priority != nil {
			priority = *s.priority
		}
		built.FilterSets = append(built.FilterSets, market.FilterSet{
			Buyer: named, ID: s.id, Priority: priority, Weight: cmp.Or(s.weight, 1), Price: money(t, cmp.Or(s.price, "10")),
			States: states, Filters: filters(t, mapping, s.filters), Schedule: schedule(t, s.schedule),
			Caps: caps(t, market.ScopePair, s.caps), Modifiers: modifiers(t, s.modifiers),
			Suppliers: suppliersOf(s.suppliers), NotSuppliers: suppliersOf(s.notSuppliers),
		})
	}
	return built
}

// setOf returns the names as a set; nil stays nil.
func setOf[T ~string](names []string) map[T]struct{} {
	if names == nil {
		return nil
	}
	set := map[T]struct{}{}
	for _, name := range names {
		set[T(name)] = struct{}{}
	}
	return set
}

func suppliersOf(ids []string) map[market.SupplierID]struct{} { return setOf[market.SupplierID](ids) }

func sourcesOf(names []string) map[string]struct{} { return setOf[string](names) }

func listsOf(t testing.TB, c *market.Catalog, ids []string) (lists []*market.SuppressionListDefinition) {
	t.Helper()
	for _, id := range ids {
		if c.Lists[market.ListID(id)] == nil {
			t.Fatalf("no list %q", id)
		}
		lists = append(lists, c.Lists[market.ListID(id)])
	}
	return lists
}

func payout(t testing.TB, text string) market.PayoutRule {
	t.Helper()
	if fixed, ok := strings.CutPrefix(text, "$"); ok {
		return market.PayoutRule{IsFixed: true, Fixed: money(t, fixed)}
	}
	return market.PayoutRule{Share: must.Value(market.ParseShare([]byte(cmp.Or(text, "1"))))(t)}
}

func filters(t testing.TB, mapping *market.FieldMapping, specs []market.FilterSpec) (built []market.Filter) {
	t.Helper()
	for _, spec := range specs {
		built = append(built, must.Value(market.NewFilter(spec, mapping))(t))
	}
	return built
}

func schedule(t testing.TB, text string) *calendar.WeeklySchedule {
	t.Helper()
	if text == "" {
		return nil
	}
	name, lines, _ := strings.Cut(text, " ")
	var open, closedOn []string
	for _, line := range strings.Split(lines, ", ") {
		if day, isClosed := strings.CutPrefix(line, "closed "); isClosed {
			closedOn = append(closedOn, day)
		} else {
			open = append(open, line)
		}
	}
	return must.Value(calendar.ParseWeeklySchedule(zone(t, name), open, closedOn...))(t)
}

func modifiers(t testing.TB, specs []modifier) (built []market.Modifier) {
	t.Helper()
	for _, spec := range specs {
		built = append(built, market.Modifier{
			During: schedule(t, spec.during), Price: market.Factor(money(t, cmp.Or(spec.price, "1"))), Caps: market.Factor(money(t, cmp.Or(spec.caps, "1"))),
		})
	}
	return built
}

func caps(t testing.TB, scope market.CapScope, texts []string) (built []*market.Cap) {
	t.Helper()
	for _, text := range texts {
		words := strings.Fields(text)
		period, ok := calendar.ParsePeriod(words[0])
		if !ok {
			t.Fatalf("cap %q", text)
		}
		limit := &market.Cap{Scope: scope, Unit: market.UnitCount, Period: period, Zone: time.UTC}
		if amount, ok := strings.CutPrefix(words[1], "$"); ok {
			limit.Unit, limit.Limit = market.UnitMoney, int64(money(t, amount))
		} else {
			limit.Limit = int64(must.Value(strconv.Atoi(words[1]))(t))
		}
		if len(words) > 2 {
			limit.Zone = zone(t, words[2])
		}
		built = append(built, limit)
	}
	return built
}

// tables builds the suppression lists' tables.
func (r marketSpec) tables(t testing.TB, c *market.Catalog) map[market.ListID]*fingerprint.FingerprintTable {
	t.Helper()
	tables := map[market.ListID]*fingerprint.FingerprintTable{}
	for _, l := range r.lists {
		var prints []uint64
		for _, line := range l.entries {
			prints = append(prints, must.Value(c.Lists[market.ListID(l.id)].FingerprintLine([]byte(line), &secret))(t))
		}
		tables[market.ListID(l.id)] = fingerprint.NewFingerprintTable(prints)
	}
	return tables
}

// allCaps returns a catalog's caps by number.
func allCaps(c *market.Catalog) map[market.PermanentNumber]*market.Cap {
	all := map[market.PermanentNumber]*market.Cap{}
	add := func(limits []*market.Cap) {
		for _, limit := range limits {
			all[limit.Ref] = limit
		}
	}
	for _, b := range c.Buyers {
		add(b.Caps)
	}
	for _, built := range c.Campaigns {
		add(built.Caps)
		for i := range built.Terms {
			add(built.Terms[i].Caps)
		}
		for i := range built.FilterSets {
			add(built.FilterSets[i].Caps)
		}
	}
	return all
}

// highestLimits returns the highest limit of each cap of a catalog, with its modifiers.
func highestLimits(c *market.Catalog) map[market.PermanentNumber]int64 {
	highest := map[market.PermanentNumber]int64{}
	for ref, limit := range allCaps(c) {
		highest[ref] = limit.Limit
	}
	for _, built := range c.Campaigns {
		for i := range built.FilterSets {
			for m := range built.FilterSets[i].Modifiers {
				for _, limit := range built.FilterSets[i].Modifiers[m].ModifiedCaps(built.FilterSets[i].Caps) {
					highest[limit.Ref] = max(highest[limit.Ref], limit.Limit)
				}
			}
		}
	}
	return highest
}

// ingestOrPostInput returns a supplier's request with lead n. The pairs of name and value change or
// add members; see member for their values.
func leadRequest(n int, pairs ...string) request {
	values := map[string]string{
		"flo_campaign_id": "auto", "flo_supplier_id": "acme",
		"first_name": "Pat", "last_name": "Doe",
		"phone": fmt.Sprintf("415%07d", 2_000_000+n), "email": fmt.Sprintf("p%d@example.com", n),
		"state": "CA",
	}
	return requestWith(values, pairs)
}

// requestWith returns a request with the values and pairs. A pair replaces a value.
func requestWith(values map[string]string, pairs []string) request {
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	r := request{supplier: "acme"}
	var body strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&body, "%s=%s;", name, values[name])
		if m := member(name, values[name]); m.Name != nil {
			r.members = append(r.members, m)
		}
	}
	r.body = []byte(body.String())
	return r
}

// member returns a string member. For "-" it returns none. After # the value is a JSON literal.
func member(name, value string) market.JSONMember {
	if value == "-" {
		return market.JSONMember{}
	}
	m := market.JSONMember{Name: []byte(name), Kind: market.JSONString, Text: []byte(value)}
	if literal, ok := strings.CutPrefix(value, "#"); ok {
		m.Text, m.Kind = []byte(literal), market.JSONNumber
		switch literal {
		case "true", "false":
			m.Kind = market.JSONBoolean
		case "null":
			m.Kind = market.JSONNull
		}
		if literal != "" && (literal[0] == '{' || literal[0] == '[') {
			m.Kind = market.JSONObject
		}
	}
	return m
}

// phoneOf returns the normalized phone number of lead n.
func phoneOf(n int) string { return fmt.Sprintf("+1415%07d", 2_000_000+n) }
