package adapters_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pingpost/engine/market"
)

// jsonBidder buys leads of some regions over JSON, and detects repeated leads.
type jsonBidder struct {
	t     *testing.T
	known map[string]string // its lead numbers by our lead id
}

func (b *jsonBidder) answer(r *http.Request, body string) (int, string, string) {
	kind := "application/json"
	switch {
	case r.Header.Get("X-Partner-Key") != secret:
		return http.StatusUnauthorized, kind, `{"quote":{"why":"UNKNOWN_PARTNER"}}`
	case r.Header.Get("X-Api-Version") != "3" || r.Header.Get("Content-Type") != kind || r.Method != http.MethodPost:
		return http.StatusBadRequest, kind, `{"quote":{"why":"bad_request"}}`
	case r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Pingpost-Hops") != "":
		b.t.Error("the request has headers of the pingpost contract")
	}
	if r.URL.Path == "/v3/quotes" {
		return b.quote(kind, body)
	}
	var lead struct {
		Ref    string `json:"quote_ref"`
		ID     string `json:"external_id"`
		Person struct{ Given, Family, Mobile, Mail, Born, Address string }
		Agreed struct{ CPL, Ccy string }
	}
	if err := json.Unmarshal([]byte(body), &lead); err != nil || r.URL.RawQuery != "source=exchange" || r.Header.Get("X-Request-Key") != "post-1" {
		b.t.Errorf("%s %s: %v", r.URL, body, err)
	}
	if lead.Person.Mobile != "4155550123" || lead.Person.Born != "02/29/1980" || lead.Agreed.CPL != "12.5" || lead.Ref != "q-77" || lead.Person.Address != `1 "Main" St, San José CA 94107` {
		b.t.Errorf("the lead is %+v", lead)
	}
	if number := b.known[lead.ID]; number != "" {
		return http.StatusOK, kind, `{"lead":{"state":"stored_before","number":` + number + `}}`
	}
	b.known[lead.ID] = "8812"
	return http.StatusAccepted, kind, `{"lead":{"state":"stored","number":8812}}`
}

func (b *jsonBidder) quote(kind, body string) (int, string, string) {
	const want = `{"quote_request":{"id":"AUCTION","product":"AUTO","reply_before":1772452805000},` +
		`"profile":{"region":"US-CA","postal_area":"941xx","cars":2,"age":{"from":25,"band":"25-34"},"opt_in":"Y"}}`
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(body)); err != nil || compact.String() != strings.Replace(want, "AUCTION", auction.String(), 1) {
		return http.StatusOK, kind, `{"quote":{"decision":"decline","why":"REGION"}}`
	}
	return http.StatusOK, kind, `{"quote":{"decision":"offer","ref":"q-77","terms":[{"cpl":"12.50","ccy":"USD"},{"cpl":"1.00"}]}}`
}

// jsonLead is the supplier's lead.
const jsonLead = `{"first_name":"Ann","last_name":"O'Neil","phone":"(415) 555-0123","email":"Ann@Example.com","state":"CA",
	"zip":"94107","line1":"1 \"Main\" St","city":"San José","vehicle_count":2,"driver_age_band":"25-34","birth_date":"1980-02-29","tcpa_consent":true}`

func TestJSONBidderWithJSONAnswers(t *testing.T) {
	o, c := loadExample(t, "json-bidder.yaml", jsonLead), newClient(t)
	server := startEndpoint(t, (&jsonBidder{t, map[string]string{}}).answer)

	bid := o.ping(t, c, server)
	if bid.Outcome != market.OutcomeNone || bid.Bid.Amount != 12_500_000 || bid.Bid.Token != "q-77" || bid.Bid.Currency.String() != "USD" {
		t.Fatalf("%+v", bid)
	}
	for _, name := range []string{"first post", "repeat"} {
		if sold := o.post(t, c, server, bid.Bid); sold.Verdict != market.VerdictAccepted || sold.BuyerLeadID != "8812" {
			t.Errorf("%s: %+v", name, sold)
		}
	}

	o.setLead(t, strings.Replace(jsonLead, `"CA"`, `"TX"`, 1))
	if none := o.ping(t, c, server); none.Outcome != market.OutcomeNoBid || none.Reason != "region" {
		t.Errorf("%+v", none)
	}
	if !o.buyer.Post.MayRepeatPost() {
		t.Error("the post is not marked idempotent")
	}
}
