package config

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pingpost/config/schema"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// exampleEnv has a value for each variable of the example.
var exampleEnv = map[string]string{
	"PINGPOST_ADMIN_PASSWORD": "value-of-admin",
	"ACME_API_KEY":            "value-of-acme-key",
	"ACME_CLIENT_SECRET":      "value-of-acme-client",
	"ACME_WEBHOOK_SECRET":     "whsec_dmFsdWUtb2Ytd2ViaG9vaw==",
	"BLUE_SECRET":             "value-of-blue",
	"BLUE_CLIENT_SECRET":      "value-of-blue-client",
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// fatalT is the part of testing.TB that *rapid.T has too.
type fatalT interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// compileText parses and compiles a document.
func compileText(t fatalT, text string, env map[string]string) *CompiledDocument {
	t.Helper()
	return mustCompile(t)(Parse("exchange.yaml", []byte(text), lookup(env)))
}

// mustCompile compiles a document that was read without an error.
func mustCompile(t fatalT) func(*ParsedDocument, error) *CompiledDocument {
	return func(source *ParsedDocument, err error) *CompiledDocument {
		t.Helper()
		if err != nil {
			t.Fatalf("parse: %v", err)
		}
		exchange, err := source.Compile()
		if err != nil {
			t.Fatalf("compile: %v", err)
		}
		return exchange
	}
}

func compileExample(t fatalT) *CompiledDocument {
	t.Helper()
	return mustCompile(t)(Load("testdata/exchange.example.yaml", lookup(exampleEnv)))
}

// checkAll reports each false condition with the checked value.
func checkAll(t *testing.T, value any, holds map[string]bool) {
	t.Helper()
	for name, ok := range holds {
		if !ok {
			t.Errorf("%s: %+v", name, value)
		}
	}
}

func TestExampleSettings(t *testing.T) {
	got := compileExample(t).Settings
	checkAll(t, got, map[string]bool{
		"addresses": got.DataDir == "testdata/data" && got.Listen == "127.0.0.1:8080" && got.AdminListen == "127.0.0.1:9090",
		"password":  got.AdminPassword.Reveal() == "value-of-admin",
		"networks":  len(got.TrustedNetworks) == 1 && got.TrustedNetworks[0].String() == "127.0.0.0/8" && len(got.TrustedProxies) == 0,
		"tenant":    got.Tenant == "production" && !got.Sandbox,
		"spans":     got.History == 45*schema.Day && got.Idempotency == 30*schema.Day && got.TokenLifetime == time.Hour,
		"webhooks":  got.Webhooks.InFlight == 8,
		"report":    got.Report.Keep == 90*schema.Day,
		"limits":    got.Limits.Body == 65536 && got.Limits.Answer == 65536,
	})
}

func TestExampleCampaign(t *testing.T) {
	catalog := compileExample(t).Catalog
	c := catalog.Campaigns["cmp_auto"]
	if c == nil || len(catalog.Campaigns) != 1 {
		t.Fatalf("campaigns: %v", catalog.Campaigns)
	}
	_, facebook := c.ConsentSources["facebook"]
	slot, homeowner := c.Mapping.SlotByNameForBuyers("owns_home")
	checkAll(t, c, map[string]bool{
		"line of business": c.Name == "Auto insurance" && c.Vertical == "auto_insurance" && c.SubVertical == "",
		"terms":            c.Method == market.PingPost && c.Currency.String() == "USD" && c.Zone.String() == "America/New_York",
		"money":            c.Floor == 8_000_000 && c.Payout == (market.PayoutRule{Share: 800_000}),
		"time":             c.BidTimeout == 2*time.Second && c.PostReserve == time.Second && c.PingReserve == 500*time.Millisecond,
		"duplicates":       c.Duplicates == market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * schema.Day)},
		"suppliers":        c.AcceptsSupplier("sup_acme") && !c.AcceptsSupplier("sup_other"),
		"consent sources":  facebook,
		"suppression":      len(c.Suppression) == 1 && c.Suppression[0] == catalog.Lists["dnc"],
		"field homeowner":  homeowner && c.Mapping.FieldNameFromSuppliers(slot) == "homeowner" && c.Mapping.IsSentInPings(slot),
		"caps":             len(c.Caps) == 1 && *c.Caps[0] == market.Cap{Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: calendar.Day, Zone: c.Zone, Limit: 2000},
	})
}

func TestExampleBuyer(t *testing.T) {
	exchange := compileExample(t)
	b := exchange.Catalog.Buyers["buy_blue"]
	post := market.OutboundEndpoint{
		URL: "https://blue.example/v1/post", Credential: "buyer/buy_blue/oauth",
		Header: "Authorization", Scheme: "Bearer ",
		OAuth: &market.OutboundOAuthClient{TokenURL: "https://blue.example/oauth/token", ClientID: "x", Scope: "ping post"},
	}
	ping := post
	ping.URL = "https://blue.example/v1/ping"
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("", -8*3600)) // a Wednesday
	openAtNoon, _ := b.Schedule.IsOpenAt(noon.UnixNano())
	openAtSeven, _ := b.Schedule.IsOpenAt(noon.Add(7 * time.Hour).UnixNano())
	sets := exchange.Catalog.Campaigns["cmp_auto"].FilterSets
	if len(sets) != 1 {
		t.Fatalf("filter sets: %+v", sets)
	}
	s := sets[0]
	checkAll(t, b, map[string]bool{
		"post":       reflect.DeepEqual(b.Post, &post),
		"ping":       reflect.DeepEqual(b.Ping, &ping),
		"rates":      b.PingRate == 100 && b.PostTimeout == 10*time.Second && b.Zone.String() == "UTC",
		"funds":      b.Funded && b.Credit == 1000_000_000,
		"caps":       len(b.Caps) == 2 && b.Caps[0].Limit == 500 && b.Caps[1].Limit == 20_000_000_000 && b.Caps[1].Unit == market.UnitMoney,
		"schedule":   openAtNoon && !openAtSeven,
		"filter set": s.Buyer == b && s.Priority == 1 && s.Weight == 3 && s.Price == 12_000_000,
		"states":     s.States.Has(market.ParseUSStateCode([]byte("CA"))) && !s.States.Has(market.ParseUSStateCode([]byte("NY"))),
		"filters":    len(s.Filters) == 2 && len(s.Caps) == 1 && s.Caps[0].Scope == market.ScopePair,
	})
}

func TestExampleInitialValues(t *testing.T) {
	got := compileExample(t).Initial
	owners := map[event.ConfigObjectKind]string{event.ObjectSupplier: "supplier", event.ObjectBuyer: "buyer"}
	var credentials []string
	for _, c := range got.Credentials {
		credentials = append(credentials, strings.Join([]string{
			owners[c.Owner], c.OwnerID, c.Kind.String(), c.ClientID, c.Value.Reveal(), c.Scopes.String(),
		}, "|"))
	}
	want := []string{
		"supplier|sup_acme|api_key||value-of-acme-key|",
		"supplier|sup_acme|oauth_client|acme|value-of-acme-client|ping post",
		"buyer|buy_blue|oauth_client|blue|value-of-blue-client|webhook",
	}
	if !reflect.DeepEqual(credentials, want) {
		t.Errorf("credentials: %q", credentials)
	}
	secrets := map[string]string{}
	for _, s := range got.Secrets {
		secrets[s.Name] = s.Value.Reveal()
	}
	if !maps.Equal(secrets, map[string]string{
		"buyer/buy_blue/oauth":      "value-of-blue",
		"supplier/sup_acme/webhook": "whsec_dmFsdWUtb2Ytd2ViaG9vaw==",
	}) {
		t.Errorf("secrets: %v", secrets)
	}
	if !reflect.DeepEqual(got.Balances, []InitialBalance{{Buyer: "buy_blue", Money: 5000_000_000}}) {
		t.Errorf("balances: %v", got.Balances)
	}
	if len(got.Lists) != 1 || got.Lists[0].ID != "dnc" || got.Lists[0].Path != filepath.Join("testdata", "dnc.txt") || got.Lists[0].At.Path != "suppression_lists[0].file" || got.Lists[0].At.Line == 0 {
		t.Errorf("lists: %v", got.Lists)
	}
	if got.Paused.Buyers != nil || got.Paused.Campaigns != nil {
		t.Errorf("paused: %v", got.Paused)
	}
}

func TestExampleGolden(t *testing.T) {
	exchange := compileExample(t)
	checkGolden(t, "testdata/canonical.json", append(bytes.Clone(exchange.Canonical), '\n'))
	checkGolden(t, "testdata/export.yaml", exchange.ExportYAML())
}

func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it and run with -update if it is right. Got:\n%s", path, got)
	}
}
