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

var update = flag.Bool("update", false, "write the golden files anew")

// exampleEnv has a recognisable value for each variable of the example.
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

// failer is a test, or one draw of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func compiled(t failer, text string, env map[string]string) *Compiled {
	t.Helper()
	source, err := Parse("exchange.yaml", []byte(text), lookup(env))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	exchange, err := source.Compile()
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return exchange
}

func example(t failer) *Compiled {
	t.Helper()
	source, err := Load("testdata/exchange.example.yaml", lookup(exampleEnv))
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return exchange
}

func TestExampleSettings(t *testing.T) {
	got := example(t).Settings
	if got.DataDir != "testdata/data" || got.Listen != "127.0.0.1:8080" || got.AdminListen != "127.0.0.1:9090" {
		t.Errorf("addresses: %+v", got)
	}
	if got.AdminPassword.Reveal() != "value-of-admin" {
		t.Error("the password is not the environment's")
	}
	if len(got.TrustedNetworks) != 1 || got.TrustedNetworks[0].String() != "127.0.0.0/8" || len(got.TrustedProxies) != 0 {
		t.Errorf("networks: %v %v", got.TrustedNetworks, got.TrustedProxies)
	}
	if got.Tenant != "production" || got.Sandbox {
		t.Errorf("tenant: %q %v", got.Tenant, got.Sandbox)
	}
	if got.History != 45*schema.Day || got.Idempotency != 30*schema.Day || got.TokenLifetime != time.Hour {
		t.Errorf("spans: %v %v %v", got.History, got.Idempotency, got.TokenLifetime)
	}
	if got.Webhooks.InFlight != 8 {
		t.Errorf("webhooks: %+v", got.Webhooks)
	}
	if got.Report.Keep != 90*schema.Day {
		t.Errorf("report: %+v", got.Report)
	}
	if got.Limits.Body != 65536 || got.Limits.Answer != 65536 {
		t.Errorf("limits: %+v", got.Limits)
	}
}

func TestExampleCampaign(t *testing.T) {
	catalog := example(t).Catalog
	campaign := catalog.Campaigns["cmp_auto"]
	if campaign == nil || len(catalog.Campaigns) != 1 {
		t.Fatalf("campaigns: %v", catalog.Campaigns)
	}
	if campaign.Name != "Auto insurance" || campaign.Vertical != "auto_insurance" || campaign.SubVertical != "" {
		t.Errorf("line of business: %+v", campaign)
	}
	if campaign.Method != market.PingPost || campaign.Currency.String() != "USD" || campaign.Zone.String() != "America/New_York" {
		t.Errorf("terms: %+v", campaign)
	}
	if campaign.Floor != 8_000_000 || campaign.Payout != (market.Payout{Share: 800_000}) {
		t.Errorf("money: %v %+v", campaign.Floor, campaign.Payout)
	}
	if campaign.BidTimeout != 2*time.Second || campaign.PostReserve != time.Second || campaign.PingReserve != 500*time.Millisecond {
		t.Errorf("time: %v %v %v", campaign.BidTimeout, campaign.PostReserve, campaign.PingReserve)
	}
	want := market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * schema.Day)}
	if campaign.Duplicates != want {
		t.Errorf("duplicates: %+v", campaign.Duplicates)
	}
	if !campaign.AcceptsSupplier("sup_acme") || campaign.AcceptsSupplier("sup_other") {
		t.Error("suppliers")
	}
	if _, ok := campaign.ConsentSources["facebook"]; !ok {
		t.Error("consent sources")
	}
	if len(campaign.Suppression) != 1 || campaign.Suppression[0] != catalog.Lists["dnc"] {
		t.Errorf("suppression: %v", campaign.Suppression)
	}
	if slot, ok := campaign.Mapping.SlotByBuyerName("owns_home"); !ok || campaign.Mapping.ArrivalName(slot) != "homeowner" || !campaign.Mapping.IsInPing(slot) {
		t.Error("the field homeowner")
	}
	if len(campaign.Caps) != 1 || *campaign.Caps[0] != (market.Cap{Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: calendar.Day, Zone: campaign.Zone, Limit: 2000}) {
		t.Errorf("caps: %+v", campaign.Caps)
	}
}

func TestExampleBuyer(t *testing.T) {
	exchange := example(t)
	buyer := exchange.Catalog.Buyers["buy_blue"]
	want := market.Endpoint{
		URL: "https://blue.example/v1/post", Credential: "buyer/buy_blue/oauth",
		Header: "Authorization", Scheme: "Bearer ",
		OAuth: &market.OAuthClient{TokenURL: "https://blue.example/oauth/token", ClientID: "x", Scope: "ping post"},
	}
	if !reflect.DeepEqual(buyer.Post, &want) {
		t.Errorf("post: %+v", buyer.Post)
	}
	want.URL = "https://blue.example/v1/ping"
	if !reflect.DeepEqual(buyer.Ping, &want) {
		t.Errorf("ping: %+v", buyer.Ping)
	}
	if buyer.PingRate != 100 || buyer.PostTimeout != 10*time.Second || buyer.Zone.String() != "UTC" {
		t.Errorf("buyer: %+v", buyer)
	}
	if !buyer.Funded || buyer.Credit != 1000_000_000 {
		t.Errorf("funds: %v %v", buyer.Funded, buyer.Credit)
	}
	if len(buyer.Caps) != 2 || buyer.Caps[0].Limit != 500 || buyer.Caps[1].Limit != 20_000_000_000 || buyer.Caps[1].Unit != market.UnitMoney {
		t.Errorf("caps: %+v", buyer.Caps)
	}
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("", -8*3600)) // a Wednesday
	if open, _ := buyer.Schedule.IsOpen(noon.UnixNano()); !open {
		t.Error("closed on a Wednesday at noon")
	}
	if open, _ := buyer.Schedule.IsOpen(noon.Add(7 * time.Hour).UnixNano()); open {
		t.Error("open on a Wednesday at seven in the evening")
	}
	lineup := exchange.Catalog.Campaigns["cmp_auto"].FilterSets
	if len(lineup) != 1 || lineup[0].Buyer != buyer || lineup[0].Priority != 1 || lineup[0].Weight != 3 || lineup[0].Price != 12_000_000 {
		t.Fatalf("lineup: %+v", lineup)
	}
	if s := lineup[0].States; !s.Has(market.ParseUSState([]byte("CA"))) || s.Has(market.ParseUSState([]byte("NY"))) {
		t.Error("the seat does not have the buyer's states")
	}
	if len(lineup[0].Filters) != 2 || len(lineup[0].Caps) != 1 || lineup[0].Caps[0].Scope != market.ScopePair {
		t.Errorf("seat: %+v", lineup[0])
	}
}

func TestExampleFirsts(t *testing.T) {
	got := example(t).Initial
	owners := map[event.ObjectKind]string{event.ObjectSupplier: "supplier", event.ObjectBuyer: "buyer"}
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
	exchange := example(t)
	golden(t, "testdata/canonical.json", append(bytes.Clone(exchange.Canonical), '\n'))
	golden(t, "testdata/export.yaml", exchange.Export())
}

func golden(t *testing.T, path string, got []byte) {
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
