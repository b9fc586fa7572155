package market_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

var (
	pingMetadata = market.BuyerPingMetadata{
		Auction: market.AuctionID(market.ComposeID(1, [10]byte{1})), Vertical: "auto_insurance",
		ExpiresAt: time.Date(2026, 3, 2, 12, 0, 4, 987_654_321, time.UTC).UnixNano(),
	}
	pingPrefix = `{"auction_id":"` + pingMetadata.Auction.String() + `","vertical":"auto_insurance"`
	pingSuffix = `,"expires_at":"2026-03-02T12:00:04.987Z"}`
)

func TestAppendPing(t *testing.T) {
	m := mappingOf(
		t, market.UnknownKeep,
		market.FieldSpec{Name: "homeowner", NameForBuyers: "owns \"home\"", Type: market.TypeBoolean, Ping: true},
		market.FieldSpec{Name: "vehicle_count", Type: market.TypeInteger, Ping: true, Default: text("1"), DefaultKind: market.JSONNumber},
		market.FieldSpec{Name: "note", Type: market.TypeString},
		market.FieldSpec{Name: "ssn", Type: market.TypeString, Contact: true},
		market.FieldSpec{Name: "town", NameForBuyers: "city", Type: market.TypeString, Ping: true},
	)
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"everything",
			[]string{
				`line1="1 Main St"`, `town="San José"`, `state="CA"`, `zip="94107-1234"`, `source="search"`, `tcpa_consent=true`, `ai_quality_score=0.820`,
				`consent_text="I agree"`, `consent_timestamp="2026-01-31T09:30:00Z"`, `ip_address="203.0.113.7"`, `consent_cert_url="https://c.example/1"`,
				`homeowner=false`, `vehicle_count=2.0`, `note="call Ann"`, `ssn="123"`, `deep={"email": "a@x.y"}`,
			},
			`,"state":"CA","source":"search","tcpa_consent":true,"consent_cert_url":"https://c.example/1","city":"San José","zip3":"941",` +
				`"ai_quality_score":0.820,"owns \"home\"":false,"vehicle_count":2`,
		},
		{"only required fields", nil, `,"tcpa_consent":false,"vehicle_count":1`},
		{"explicit denial of consent", []string{`tcpa_consent=false`}, `,"tcpa_consent":false,"vehicle_count":1`},
	}
	for _, test := range tests {
		l, failed := fill(m, person(test.lines...))
		if failed != nil {
			t.Fatalf("%s: %q", test.name, failed)
		}
		want := "ping: " + pingPrefix + test.want + pingSuffix
		if got := string(m.AppendPing([]byte("ping: "), l, pingMetadata)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, want)
		}
	}
}

func TestAppendPingForwardsUnknownMembers(t *testing.T) {
	m := mapping(t)
	l, failed := fillPing(m, market.UnknownKeep, `auction_id="theirs"`, `vertical="x"`, `expires_at="y"`, `state="NV"`, `zip3="891"`, `currently_insured=true`, `cars=["a", {"b":1}]`)
	if failed != nil {
		t.Fatal(failed)
	}
	head := pingMetadata
	head.SubVertical, head.ExpiresAt = "motor\"cycle", time.Date(2026, 3, 2, 12, 0, 0, 0, time.FixedZone("", 3600)).UnixNano()
	want := pingPrefix + `,"sub_vertical":"motor\"cycle","state":"NV","tcpa_consent":false,"zip3":"891","currently_insured":true,"cars":["a", {"b":1}],"expires_at":"2026-03-02T11:00:00.000Z"}`
	if got := string(m.AppendPing(nil, l, head)); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}

	// AppendPing omits extras of an ingest, because they were not searched for contact data.
	m = mappingOf(t, market.UnknownKeep)
	l.Reset(m.SlotCount())
	if failed := m.FillLeadFromIngest(l, person(`currently_insured=true`), nil); failed != nil || len(l.Extras) != 1 {
		t.Fatal(failed, l.Extras)
	}
	if got := string(m.AppendPing(nil, l, pingMetadata)); got != pingPrefix+`,"tcpa_consent":false`+pingSuffix {
		t.Errorf("%s", got)
	}
}

// TestPingBodyNeverContainsContactData checks random fields, policies and leads.
func TestPingBodyNeverContainsContactData(t *testing.T) {
	const canary = "Xylophia"
	rapid.Check(t, func(t *rapid.T) {
		var fields []market.FieldSpec
		lines := []string{
			`first_name="Xylophia"`, `last_name="Xylophia"`, `email="Xylophia@example.com"`, `phone="+12025550143"`, `line1="1 Xylophia St"`,
			`state="CA"`, `zip="94107"`, `extra="Xylophia"`, `nested={"email":"Xylophia@example.com"}`,
		}
		inPing := map[string]bool{"auction_id": true, "vertical": true, "state": true, "zip3": true, "tcpa_consent": true, "expires_at": true}
		for i := range rapid.IntRange(0, 6).Draw(t, "fields") {
			name := "field_" + string(rune('a'+i))
			f := market.FieldSpec{Name: name, Type: market.TypeString, Contact: rapid.Bool().Draw(t, "contact")}
			f.Ping = !f.Contact && rapid.Bool().Draw(t, "ping")
			if rapid.Bool().Draw(t, "renamed") {
				f.NameForBuyers = "to_" + name
			}
			value := canary
			if f.Ping {
				value = "allowed"
				inPing[max(f.NameForBuyers, f.Name)] = true
			}
			if f.Contact && rapid.Bool().Draw(t, "supplied") {
				f.Default = text(canary)
			} else {
				lines = append(lines, name+`="`+value+`"`)
			}
			fields = append(fields, f)
		}
		unknown := rapid.SampledFrom([]market.UnknownMemberPolicy{market.UnknownDrop, market.UnknownKeep}).Draw(t, "unknown")
		m, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: fields, Unknown: unknown})
		if mistakes != nil {
			t.Fatal(mistakes)
		}
		var l market.Lead
		l.Reset(m.SlotCount())
		if failed := m.FillLeadFromIngest(&l, members(lines...), nil); failed != nil {
			t.Fatal(failed)
		}
		ping := m.AppendPing(nil, &l, pingMetadata)
		if strings.Contains(string(ping), canary) || strings.Contains(string(ping), "2025550143") || strings.Contains(string(ping), "94107") {
			t.Fatalf("%s", ping)
		}
		var sent map[string]any
		if err := json.Unmarshal(ping, &sent); err != nil {
			t.Fatalf("%s: %v", ping, err)
		}
		if got, want := slices.Sorted(maps.Keys(sent)), slices.Sorted(maps.Keys(inPing)); !slices.Equal(got, want) {
			t.Fatalf("sent %q, want %q", got, want)
		}
	})
}
