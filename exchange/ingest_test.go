package exchange

import (
	"regexp"
	"strings"
	"testing"
)

// outcomesConfig has a campaign for each outcome.
const outcomesConfig = configHead + configSuppliers + `suppression_lists:
  - {id: dnc, field: phone, file: dnc.txt}
buyers:
  - {id: buy_blue, states: [CA, NV]}
  - {id: buy_poor, funds: {balance: 1}}
campaigns:
  - {id: share, method: waterfall, payout: {share: 0.333333}, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 10}]}
  - {id: fixed, method: waterfall, payout: {fixed: 6.5}, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 10}]}
  - {id: whole, method: round_robin, currency: EUR, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 0.000001}]}
  - {id: free, method: weighted, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 0}]}
  - {id: dear, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 1000000}]}
  - {id: capped, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 1, caps: [{per: day, count: 1}]}]}
  - {id: nobody, method: waterfall, duplicates: {window: 0s}}
  - {id: poor, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_poor, price: 2}]}
  - {id: twice, method: waterfall, buyers: [{buyer: buy_blue, price: 1}]}
  - {id: dnc, method: waterfall, suppression: [dnc], duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 1}]}
  - {id: picky, method: waterfall, filters: [{field: source, in: [web]}], duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 1}]}
`

// TestIngestAnswers: the exact answers, except for the lead's id.
func TestIngestAnswers(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, outcomesConfig)
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0666\n")
	x := start(t, p)
	rows := []struct {
		name, body, want string
	}{
		{"a share, rounded down", leadBody(1, "flo_campaign_id", `"share"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"share","price":{"amount":3.33333,"currency":"USD"}`},
		{"a fixed payout", leadBody(1, "flo_campaign_id", `"fixed"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"fixed","price":{"amount":6.5,"currency":"USD"}`},
		{"a millionth of a euro", leadBody(1, "flo_campaign_id", `"whole"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"whole","price":{"amount":0.000001,"currency":"EUR"}`},
		{"a price of zero", leadBody(1, "flo_campaign_id", `"free"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"free","price":{"amount":0,"currency":"USD"}`},
		{"a million", leadBody(1, "flo_campaign_id", `"dear"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"dear","price":{"amount":1000000,"currency":"USD"}`},
		{"a free cap", leadBody(1, "flo_campaign_id", `"capped"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"capped","price":{"amount":1,"currency":"USD"}`},
		{"a full cap", leadBody(2, "flo_campaign_id", `"capped"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"capped","reason":"caps_full"`},
		{"no buyers", leadBody(1, "flo_campaign_id", `"nobody"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"nobody","reason":"no_buyer"`},
		{"another state", leadBody(1, "flo_campaign_id", `"share"`, "state", `"NY"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"share","reason":"no_state_match"`},
		{"no state", leadBody(1, "flo_campaign_id", `"share"`, "state", ""), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"share","reason":"no_state_match"`},
		{"no funds", leadBody(1, "flo_campaign_id", `"poor"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"poor","reason":"insufficient_funds"`},
		{"the first of two", leadBody(1, "flo_campaign_id", `"twice"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"twice","price":{"amount":1,"currency":"USD"}`},
		{"a duplicate", leadBody(1, "flo_campaign_id", `"twice"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"twice","reason":"duplicate"`},
		{"a suppressed phone", leadBody(666, "flo_campaign_id", `"dnc"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"dnc","reason":"suppressed"`},
		{"a phone not suppressed", leadBody(667, "flo_campaign_id", `"dnc"`), `"status":"ACCEPTED","buyer_id":"buy_blue","campaign_id":"dnc","price":{"amount":1,"currency":"USD"}`},
		{"a filtered source", leadBody(1, "flo_campaign_id", `"picky"`), `"status":"UNMATCHED","buyer_id":null,"campaign_id":"picky","reason":"filtered"`},
	}
	id := regexp.MustCompile(`"id":"lead_[0-9a-z]{26}",`)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a := x.ingest(row.body)
			if a.status != 201 || !id.MatchString(a.body) {
				t.Fatalf("got %d %s", a.status, a.body)
			}
			if got := id.ReplaceAllString(a.body, ""); got != `{"data":{`+row.want+`}}` {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if a.header.Get("Content-Type") != jsonType || !requestIDPattern.MatchString(a.requestID()) || a.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("unexpected headers: %v", a.header)
			}
		})
	}
}

func TestInvalidPayloads(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "    payout: {share: 0.8}\n", "    consent_required_sources: [facebook]\n    unknown: reject\n", 1)
	x := start(t, newTestDir(t, config))
	rows := []struct {
		name, body string
		headers    []string
		want       string // fields and codes, in order
	}{
		{"no campaign", leadBody(1, "flo_campaign_id", ""), nil, "flo_campaign_id missing_required"},
		{"a null for a campaign", leadBody(1, "flo_campaign_id", "null"), nil, "flo_campaign_id missing_required"},
		{"an unknown campaign", leadBody(1, "flo_campaign_id", `"cmp_none"`), nil, "flo_campaign_id unknown"},
		{"a paused campaign", leadBody(1, "flo_campaign_id", `"cmp_shut"`), nil, "flo_campaign_id inactive"},
		{"a number for a campaign", leadBody(1, "flo_campaign_id", "1"), nil, "flo_campaign_id wrong_type"},
		{"no supplier", leadBody(1, "flo_supplier_id", ""), nil, "flo_supplier_id missing_required"},
		{"no required field", "{}", nil, "flo_campaign_id missing_required, flo_supplier_id missing_required"},
		{
			"no field that the campaign requires", `{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme"}`, nil,
			"first_name missing_required, last_name missing_required, phone missing_required, email missing_required",
		},
		{"a phone with letters", leadBody(1, "phone", `"`+areaCode+`CALL"`), nil, "phone invalid_format"},
		{"a phone that is a number", leadBody(1, "phone", areaCode+`1234`), nil, "phone wrong_type"},
		{"an e-mail without a host", leadBody(1, "email", `"ann@"`), nil, "email invalid_format"},
		{"an invalid state", leadBody(1, "state", `"ZZ"`), nil, "state invalid_format"},
		{"an unknown field", leadBody(1, "shoe_size", `1`), nil, "shoe_size unknown_field"},
		{"no consent", leadBody(1, "source", `"facebook"`), nil, "consent_cert_url missing_required"},
		{"a chosen ping without a buyer", leadBody(1, "flo_ping_id", `"ping_1"`), nil, "flo_buyer_id unknown"},
		{"a chosen buyer without a ping", leadBody(1, "flo_buyer_id", `"buy_blue"`), nil, "flo_ping_id unknown"},
		{"an unknown chosen ping", leadBody(1, "flo_ping_id", `"ping_1"`, "flo_buyer_id", `"buy_blue"`), nil, "flo_ping_id unknown"},
		{"an invalid key", leadBody(1), []string{"Idempotency-Key", "a b"}, "Idempotency-Key invalid_format"},
		{"an invalid key and no phone", leadBody(1, "phone", ""), []string{"Idempotency-Key", "a\u00fc"}, "Idempotency-Key invalid_format, phone missing_required"},
		{"a key that is too long", leadBody(1), []string{"Idempotency-Key", strings.Repeat("k", 256)}, "Idempotency-Key invalid_format"},
		{"an empty key in quotes", leadBody(1), []string{"Idempotency-Key", `""`}, "Idempotency-Key invalid_format"},
		{"a key in quotes that is too long", leadBody(1), []string{"Idempotency-Key", `"` + strings.Repeat("k", 256) + `"`}, "Idempotency-Key invalid_format"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := x.ingest(row.body, row.headers...).mustFail(t, 422, "invalid_payload")
			var got []string
			for _, field := range f.Fields {
				got = append(got, field.Field+" "+field.Code)
			}
			if strings.Join(got, ", ") != row.want {
				t.Errorf("got %v, want %s", got, row.want)
			}
		})
	}
	for name, body := range map[string]string{
		"another supplier's id":              leadBody(1, "flo_supplier_id", `"sup_other"`),
		"an unknown supplier":                leadBody(1, "flo_supplier_id", `"sup_none"`),
		"another supplier's campaign":        leadBody(1, "flo_campaign_id", `"cmp_other"`),
		"another supplier's id and campaign": leadBody(1, "flo_campaign_id", `"cmp_other"`, "flo_supplier_id", `"sup_other"`),
	} {
		t.Run(name, func(t *testing.T) { x.ingest(body).mustFail(t, 403, "forbidden") })
	}
}
