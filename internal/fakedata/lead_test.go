package fakedata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/internal/strictjson"
)

func stateOf(code string) market.USState { return market.ParseUSStateCode([]byte(code)) }

// encodeLeads returns the three bodies of all leads of a request.
func encodeLeads(req LeadSeriesOptions) []byte {
	var out []byte
	leads := MakeLeads(req)
	for i := range leads {
		out = append(leads[i].AppendPing(out), '\n')
		out = append(leads[i].AppendLead(out), '\n')
		out = append(leads[i].AppendIngest(out, "cmp", "sup"), '\n')
	}
	return out
}

func TestEqualRequestsGiveEqualLeads(t *testing.T) {
	req := LeadSeriesOptions{Count: 200, Vertical: "auto_insurance", State: stateOf("CA"), Seed: 1}
	first := encodeLeads(req)
	if !bytes.Equal(first, encodeLeads(req)) {
		t.Error("equal requests give different leads")
	}
	fewer := req
	fewer.Count = 100
	if !bytes.HasPrefix(first, encodeLeads(fewer)) {
		t.Error("the count of a request changes its first leads")
	}
	for name, change := range map[string]func(*LeadSeriesOptions){
		"seed":     func(r *LeadSeriesOptions) { r.Seed = -1 },
		"state":    func(r *LeadSeriesOptions) { r.State = stateOf("TX") },
		"vertical": func(r *LeadSeriesOptions) { r.Vertical = "auto" },
	} {
		other := req
		change(&other)
		if leads := MakeLeads(other); leads[0].UUID == MakeLeads(req)[0].UUID {
			t.Errorf("a different %s gives the same leads", name)
		}
	}
}

// TestLeadsAreFrozen: a seed must give the same leads on every machine and in every release.
func TestLeadsAreFrozen(t *testing.T) {
	for vertical, want := range map[string]string{
		"auto_insurance": "dd706c2c68be2446", "solar": "1bc49272edad8545", "life_insurance": "a92a5f19ea5559e4", "pet care": "c8b305bafd3438fd",
	} {
		sum := sha256.Sum256(encodeLeads(LeadSeriesOptions{Count: 100, Vertical: vertical, State: stateOf("NV"), Seed: 1}))
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("%s: %s, want %s", vertical, got, want)
		}
	}
}

// ping and lead are decoded bodies.
type ping struct {
	Vertical    string
	State       string
	Zip3        string
	Source      string
	Consent     *bool    `json:"tcpa_consent"`
	Quality     *float64 `json:"ai_quality_score"`
	Certificate string   `json:"consent_cert_url"`
}

type lead struct {
	UUID    string `json:"lead_uuid"`
	First   string `json:"first_name"`
	Last    string `json:"last_name"`
	Email   string
	Phone   string
	Address struct{ Line1, City, State, Zip string }
	TCPA    struct {
		Text        string    `json:"consent_text"`
		At          time.Time `json:"consent_timestamp"`
		IP          string    `json:"ip_address"`
		Certificate string    `json:"consent_cert_url"`
	}
	Birth    string `json:"birth_date"`
	Band     string `json:"driver_age_band"`
	Insured  *bool  `json:"currently_insured"`
	Count    int    `json:"vehicle_count"`
	Vehicles []struct {
		Year        int
		Make, Model string
	}
}

func decodeStrict[T any](t testing.TB, body []byte) (out T) {
	t.Helper()
	var object strictjson.Object
	if err := object.Parse(body); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out
}

var uuids = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// TestPersonsAreFictional: numbers, addresses and mailboxes are fictional, leads of a request are
// about different persons, and pings have no contact data.
func TestPersonsAreFictional(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		place := rapid.SampledFrom(AllUSStateData()).Draw(rt, "place")
		req := LeadSeriesOptions{
			Count: rapid.IntRange(100, 250).Draw(rt, "count"), State: stateOf(place.State), Seed: rapid.Int64().Draw(rt, "seed"),
			Vertical: rapid.SampledFrom([]string{"auto", "auto_insurance", "solar", "life", "life_insurance", "pet", `"<quoted>"`}).Draw(rt, "vertical"),
		}
		seen := map[string]int{}
		for i, l := range MakeLeads(req) {
			p, full := decodeStrict[ping](t, l.AppendPing(nil)), decodeStrict[lead](t, l.AppendLead(nil))
			if p.Vertical != req.Vertical || p.State != place.State || full.Address.State != p.State || full.Address.Zip[:3] != p.Zip3 ||
				full.TCPA.Certificate != p.Certificate || !strings.HasPrefix(p.Certificate, "https://consent.example.com/") {
				rt.Fatalf("the ping %+v and the lead %+v", p, full)
			}
			if p.Consent == nil || *p.Consent != (full.TCPA.Text != "") || *p.Consent == full.TCPA.At.IsZero() || p.Quality == nil || *p.Quality < 0 || *p.Quality > 1 {
				rt.Fatalf("the ping %+v and the lead %+v", p, full)
			}
			if full.Phone[5:10] != "55501" || len(full.Phone) != 12 || !strings.HasSuffix(full.Email, "@example.com") || !uuids.MatchString(full.UUID) ||
				!strings.HasPrefix(full.TCPA.IP, "192.0.2.") && !strings.HasPrefix(full.TCPA.IP, "198.51.100.") && !strings.HasPrefix(full.TCPA.IP, "203.0.113.") {
				rt.Fatalf("%+v may belong to a real person", full)
			}
			pingText := string(l.AppendPing(nil))
			for _, private := range []string{full.Phone[5:], full.Email, full.UUID, full.TCPA.IP, full.Address.Line1, full.Address.Zip, "birth_date", "vehicles", "name"} {
				if strings.Contains(pingText, `"`+private) || strings.Contains(pingText, private+`"`) {
					rt.Fatalf("the ping contains %q: %s", private, pingText)
				}
			}
			for name, value := range map[string]string{"e-mail": full.Email, "uuid": full.UUID, "phone": full.Phone} {
				first, again := seen[value]
				if again && (name != "phone" || i-first != place.PhoneCount()) {
					rt.Fatalf("lead %d has the %s of lead %d", i, name, first)
				}
				seen[value] = i
			}
		}
	})
}

// TestLeadTimesAndAges: leads have increasing times within four months, and ages fit those times.
func TestLeadTimesAndAges(t *testing.T) {
	for seed := range int64(20) {
		last := time.Time{}
		for _, l := range MakeLeads(LeadSeriesOptions{Count: 300, Vertical: "auto", State: stateOf("OH"), Seed: seed}) {
			full := decodeStrict[lead](t, l.AppendLead(nil))
			if !l.Asked.After(last) || l.Asked.Before(firstDay) || l.Asked.After(firstDay.AddDate(0, 4, 0)) {
				t.Fatalf("lead of %s follows one of %s", l.Asked, last)
			}
			last = l.Asked
			born := must.Value(time.Parse(time.DateOnly, full.Birth))(t)
			age := 0
			for !born.AddDate(age+1, 0, 0).After(l.Asked) {
				age++
			}
			low, high := int(full.Band[0]-'0')*10+int(full.Band[1]-'0'), int(full.Band[3]-'0')*10+int(full.Band[4]-'0')
			if age < low || age > high || age < 18 {
				t.Fatalf("born on %s, lead of %s: age %d is not in %s", full.Birth, l.Asked, age, full.Band)
			}
			if full.Count != len(full.Vehicles) || full.Count < 1 || full.Insured == nil {
				t.Fatalf("invalid vehicles: %+v", full)
			}
			for _, v := range full.Vehicles {
				if v.Year > l.Asked.Year() || v.Year < l.Asked.Year()-maxVehicleAge || v.Make == "" || v.Model == "" {
					t.Fatalf("invalid vehicle: %+v", v)
				}
			}
		}
	}
}

// TestIngestsMatchCampaignFields fills all leads into campaigns with all fields of the verticals.
func TestIngestsMatchCampaignFields(t *testing.T) {
	fields := map[string][]market.FieldSpec{
		"auto_insurance": {
			{Name: "vehicle_count", Type: market.TypeInteger, Required: true},
			{Name: "homeowner", Type: market.TypeBoolean, Required: true},
			{Name: "driver_age_band", Type: market.TypeEnum, Values: AgeBands, Required: true},
			{Name: "birth_date", Type: market.TypeDate, Required: true},
		},
		"solar": {
			{Name: "monthly_bill", Type: market.TypeInteger, Required: true}, {Name: "roof", Type: market.TypeEnum, Values: Roofs, Required: true},
		},
		"life": {{Name: "coverage", Type: market.TypeInteger, Required: true}, {Name: "birth_date", Type: market.TypeDate, Required: true}},
		"pet":  nil,
	}
	perPlace := 100
	if testing.Short() {
		perPlace = 10
	}
	for vertical, specs := range fields {
		mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: specs})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		for _, place := range AllUSStateData() {
			for _, l := range MakeLeads(LeadSeriesOptions{Count: perPlace, Vertical: vertical, State: stateOf(place.State), Seed: 3}) {
				body := l.AppendIngest(nil, "cmp", "sup")
				var object strictjson.Object
				if err := object.Parse(body); err != nil {
					t.Fatalf("%v: %s", err, body)
				}
				var filled market.Lead
				filled.Reset(mapping.SlotCount())
				if fieldErrors := mapping.FillLeadFromIngest(&filled, object.Members(), nil); len(fieldErrors) > 0 {
					t.Fatalf("%+v: %s", fieldErrors, body)
				}
				for slot := market.SlotFirstName; slot < market.FirstCustomSlot; slot++ {
					isPresent := filled.Values[slot].Kind != market.KindAbsent
					if !isPresent && (l.Consent || slot != market.SlotConsentText && slot != market.SlotConsentTimestamp) {
						t.Fatalf("slot %d is empty: %s", slot, body)
					}
				}
			}
		}
	}
}

func TestVerticals(t *testing.T) {
	for label, want := range map[string]Vertical{
		"auto": Auto, "auto_insurance": Auto, "solar": Solar, "life": Life, "life_insurance": Life, "Auto": Plain, "": Plain, "pet": Plain,
	} {
		if got := VerticalOf(label); got != want {
			t.Errorf("%q: %d, want %d", label, got, want)
		}
	}
	for age, want := range map[int]string{18: "18-24", 24: "18-24", 25: "25-34", 34: "25-34", 35: "35-44", 54: "45-54", 55: "55-64", 80: "75-84"} {
		if got := ageBandOf(age); got != want {
			t.Errorf("%d: %s, want %s", age, got, want)
		}
	}
}
