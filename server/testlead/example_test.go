package testlead

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

const documentHead = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: a-password-of-the-test}
suppliers:
  - {id: sup_acme, api_key: a-long-api-key-of-acme}
  - {id: sup_other, api_key: a-long-api-key-of-other}
buyers:
  - {id: buy_far, states: [NV], filters: [{field: rooms, min: 7}]}
  - {id: buy_near, states: [CA]}
  - {id: buy_live, endpoint: "https://live.example.com", auth: {bearer: a-long-token-of-the-buyer}}
campaigns:
  - id: cmp
    fields:
      - {name: rooms, type: integer, min: 0, max: 9}
      - {name: kind, type: enum, values: [house, flat]}
`

const near, far, live = "{buyer: buy_near, price: 1}", "{buyer: buy_far, price: 1}", "{buyer: buy_live, price: 1}"

// compileCatalog compiles a document with the campaign cmp. Its last lines are campaign. They may begin
// with more fields.
func compileCatalog(t *testing.T, campaign string) *market.Catalog {
	t.Helper()
	if !strings.Contains(campaign, "method:") {
		campaign += "\n    method: waterfall"
	}
	parsed := must.Value(config.Parse("exchange.yaml", []byte(documentHead+campaign+"\n"), nil))(t)
	return must.Value(parsed.Compile())(t).Catalog
}

func compileCampaign(t *testing.T, campaign string) *market.Campaign {
	t.Helper()
	return compileCatalog(t, campaign).Campaigns["cmp"]
}

// seeds is the number of made-up persons with which the tests make examples. Some of them would not consent.
const seeds = 50

// examplesOf returns examples for a campaign, each with another seed.
func examplesOf(c *market.Campaign) (examples []*Example) {
	for seed := range int64(seeds) {
		examples = append(examples, MakeExample(c, seed))
	}
	return examples
}

// TestExampleFitsBuyer: the example keeps the field rules, and the filters of the campaign and of a
// buyer.
func TestExampleFitsBuyer(t *testing.T) {
	for name, row := range map[string]struct {
		campaign, eligible string
		member             string // of the example; a name alone: the example must not have it
	}{
		"a buyer's state":               {"    buyers: [" + near + "]", "[buy_near]", `"state":"CA"`},
		"a buyer's filter":              {"    buyers: [" + far + "]", "[buy_far]", `"rooms":9`},
		"the second buyer":              {"    filters: [{field: rooms, max: 5}]\n    buyers: [" + far + ", " + near + "]", "[buy_near]", `"state":"CA"`},
		"all eligible buyers":           {"    buyers: [" + near + ", " + far + ", " + live + "]", "[buy_near buy_live]", `"rooms":1`},
		"a value of an optional field":  {"    buyers: [" + near + "]", "[buy_near]", `"kind":"flat"`},
		"a field that must be absent":   {"    filters: [{field: rooms, absent: true}]\n    buyers: [" + near + "]", "[buy_near]", "rooms"},
		"a state by filter":             {"    filters: [{field: state, not_in: [CA, NV, AZ]}]\n    buyers: [" + live + "]", "[buy_live]", `"rooms":1`},
		"no consent":                    {"    filters: [{field: tcpa_consent, in: [false]}]\n    buyers: [" + near + "]", "[buy_near]", `"tcpa_consent":false`},
		"consent":                       {"    buyers: [" + near + "]", "[buy_near]", `"tcpa_consent":true`},
		"a certificate at a host":       {"    consent_hosts: [proof.example]\n    buyers: [" + near + "]", "[buy_near]", `"consent_cert_url":"https://proof.example/certificate"`},
		"a certificate below a host":    {"    consent_hosts: [\"*.proof.example\"]\n    buyers: [" + near + "]", "[buy_near]", `"consent_cert_url":"https://cert.proof.example/certificate"`},
		"no other member":               {"    vertical: auto_insurance\n    unknown: keep\n    buyers: [" + near + "]", "[buy_near]", "vehicle_count"},
		"no member of the exchange":     {"    unknown: keep\n    buyers: [" + near + "]", "[buy_near]", "flo_campaign_id"},
		"a field of the vertical":       {"      - {name: vehicle_count, type: integer, min: 30}\n    vertical: auto_insurance\n    unknown: reject\n    buyers: [" + near + "]", "[buy_near]", `"vehicle_count":30`},
		"a known field renamed":         {"      - {name: postal, type: zip, to: zip}\n    unknown: reject\n    buyers: [" + near + "]", "[buy_near]", "zip"},
		"two made-up members one field": {"      - {name: homeowner, type: string, to: source}\n    vertical: solar\n    unknown: reject\n    buyers: [" + near + "]", "[buy_near]", "source"},
		"a ZIP code near another":       {"    filters: [{field: zip, near: {zip: 10001, km: 1}}]\n    buyers: [" + near + "]", "[buy_near]", `"zip":"10001"`},
		"a ZIP code with a prefix":      {"    filters: [{field: zip, prefix: [\"021\"], not_prefix: [\"0210\"]}]\n    buyers: [" + near + "]", "[buy_near]", `"zip":"02111"`},
		"a text with a prefix":          {"      - {name: plate, type: string}\n    filters: [{field: plate, prefix: [ZX-]}]\n    buyers: [" + near + "]", "[buy_near]", `"plate":"ZX-"`},
		"a date":                        {"      - {name: born, type: date}\n    filters: [{field: born, from: 1990-05-06, until: 1999-12-31}]\n    buyers: [" + near + "]", "[buy_near]", `"born":"1990-05-06"`},
		"an age":                        {"      - {name: born, type: date}\n    filters: [{field: born, min_age: 70, max_age: 70}]\n    buyers: [" + near + "]", "[buy_near]", `"born":"` + time.Now().UTC().AddDate(-70, 0, 0).Format(time.DateOnly)},
		"an auction needs a state":      {"    vertical: solar\n    method: ping_post\n    buyers: [{buyer: buy_live}]", "[buy_live]", `"rooms":1`},
	} {
		t.Run(name, func(t *testing.T) {
			c := compileCampaign(t, row.campaign)
			for _, example := range examplesOf(c) {
				body := string(AppendObject(nil, example.Members))
				if fmt.Sprint(example.Eligible) != row.eligible || len(example.Contradictions) > 0 || len(FindFaults(c, example.Members)) > 0 {
					t.Fatalf("%+v, faults %+v: %s", example, FindFaults(c, example.Members), body)
				}
				isWanted := strings.Contains(row.member, ":")
				if isWanted && !strings.Contains(body, row.member) || !isWanted && example.ValueOf(row.member) != nil {
					t.Fatalf("%s, wanted %t: %s", row.member, isWanted, body)
				}
			}
		})
	}
}

// TestContradictions: if no lead fits, the example lists the rules, at most maxContradictions.
func TestContradictions(t *testing.T) {
	for name, row := range map[string]struct {
		campaign string
		want     string
	}{
		"no buyers":                 {"", "campaign: it has no buyers"},
		"filters contradict":        {"    filters: [{field: rooms, max: 5}]\n    buyers: [" + far + "]", "buyer buy_far: no value of rooms was found that passes all of these: campaign filter: <= 5; buyer filter: >= 7; field: an integer from 0 to 9"},
		"states contradict":         {"    filters: [{field: state, in: [CA]}]\n    buyers: [" + far + "]", "buyer buy_far: no state passes all of these: campaign filter: one of CA; the buyer's states: one of NV"},
		"the campaign contradicts":  {"    filters: [{field: rooms, min: 10}]\n    buyers: [" + near + "]", "campaign: no value of rooms was found that passes all of these: campaign filter: >= 10; field: an integer from 0 to 9"},
		"a pattern without a guess": {"      - {name: code, type: string, pattern: \"Q[0-9]{9}\", required: true}\n    buyers: [" + near + "]", "campaign: no example of code was found: it expects "},
	} {
		for _, example := range examplesOf(compileCampaign(t, row.campaign)) {
			if got := example.Contradictions; len(got) != 1 || !strings.HasPrefix(got[0], row.want) || len(example.Eligible) > 0 || example.ValueOf("phone") == nil {
				t.Fatalf("%s: %+v", name, example)
			}
		}
	}
	c := compileCampaign(t, "    filters: [{field: state, in: [CA]}, {field: rooms, max: 5}]\n    buyers: ["+far+"]")
	c.FilterSets = slices.Repeat(c.FilterSets, maxContradictions)
	if got := MakeExample(c, 1).Contradictions; len(got) != maxContradictions || !strings.Contains(got[0], "no state") || !strings.Contains(got[1], "no value of rooms") {
		t.Errorf("%d contradictions of two fields of each buyer: %v", len(got), got)
	}
}

func TestEqualSeedsGiveEqualExamples(t *testing.T) {
	campaign := "    buyers: [" + near + "]"
	first, second := examplesOf(compileCampaign(t, campaign)), examplesOf(compileCampaign(t, campaign))
	if !reflect.DeepEqual(first, second) {
		t.Error("equal seeds give different examples")
	}
	if bytes.Equal(first[0].ValueOf("phone"), first[1].ValueOf("phone")) {
		t.Errorf("two seeds give the same phone number %s", first[0].ValueOf("phone"))
	}
}

// TestPreferBuyersThatGetTests: a buyer with an endpoint, but without a test endpoint, gets no test leads.
func TestPreferBuyersThatGetTests(t *testing.T) {
	c := compileCampaign(t, "    buyers: [{buyer: buy_live, price: 1, filters: [{field: rooms, max: 2}]}, {buyer: buy_near, price: 1, filters: [{field: rooms, min: 3}]}]")
	for _, example := range examplesOf(c) {
		if fmt.Sprint(example.Eligible) != "[buy_near]" {
			t.Fatalf("eligible: %v", example.Eligible)
		}
	}
}

// TestRepeatedAttempts: no guess matches the pattern, but some made-up persons do.
func TestRepeatedAttempts(t *testing.T) {
	c := compileCampaign(t, "      - {name: first_name, pattern: \"[A-M][a-z]+\"}\n    buyers: ["+near+"]")
	firstFails := 0
	for seed := range int64(seeds) {
		if len(attemptLead(c, &c.FilterSets[0], seed).faults) > 0 {
			firstFails++
		}
	}
	fits := 0
	for _, example := range examplesOf(c) {
		fits += len(example.Eligible)
	}
	if firstFails == 0 || fits <= seeds-firstFails {
		t.Errorf("%d of %d first attempts fail, %d examples fit", firstFails, seeds, fits)
	}
}

// TestManyBuyers: the search finds the one buyer of many whose state the campaign accepts.
func TestManyBuyers(t *testing.T) {
	c := compileCampaign(t, "    filters: [{field: state, in: [CA]}]\n    buyers: ["+far+", "+near+"]")
	c.FilterSets = append(slices.Repeat(c.FilterSets[:1], 2*maxAttempts), c.FilterSets[1])
	if example := MakeExample(c, 1); fmt.Sprint(example.Eligible) != "[buy_near]" {
		t.Errorf("eligible: %v", example.Eligible)
	}
}

func TestFindSupplier(t *testing.T) {
	for suppliers, want := range map[string]string{"": "sup_acme", "    suppliers: [sup_other]\n": "sup_other"} {
		catalog := compileCatalog(t, suppliers+"    buyers: ["+near+"]")
		if got := FindAcceptedSupplierID(catalog, catalog.Campaigns["cmp"]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
