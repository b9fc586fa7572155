package adapters_test

import (
	"net/http"
	"net/url"
	"testing"

	"pingpost/engine/market"
)

// formEndpoint receives forms and answers in XML, always with status 200.
type formEndpoint struct{ t *testing.T }

func (e formEndpoint) answer(r *http.Request, body string) (int, string, string) {
	form, err := url.ParseQuery(body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Header.Get("X-Affiliate-Key") != secret {
		e.t.Errorf("%v: %v", r.Header, err)
	}
	if r.URL.RawQuery == "step=ping" {
		return http.StatusOK, "text/xml", e.ping(form)
	}
	return http.StatusOK, "text/xml", e.post(form)
}

func (e formEndpoint) ping(form url.Values) string {
	e.checkForm(form, map[string]string{
		"SRC": "exchange", "Ref": auction.String(), "State": "NV", "ZipStart": "891",
		"Own_Home": "1", "Loan_Amount": "250000", "TCPA": "No",
	})
	return `<?xml version="1.0" encoding="ISO-8859-1"?>
<PingResponse>
  <Result>Accepted</Result>
  <Bid price="010.25"><Ping_ID> H-55/a </Ping_ID></Bid>
</PingResponse>`
}

func (e formEndpoint) post(form url.Values) string {
	if form.Get("Last_Name") == "Doe" {
		return `<PostResponse><Result>rejected</Result><Code>DUPLICATE</Code></PostResponse>`
	}
	e.checkForm(form, map[string]string{
		"SRC": "exchange", "Ref": leadID.String(), "Ping_ID": "H-55/a", "First_Name": "Ann", "Last_Name": "O'Neil & Co=1",
		"Email": "ann@example.com", "Phone": "702-5550123", "Address": "1 Main St #4", "City": "Las Vegas", "State": "NV", "Zip": "89101",
		"Own_Home": "1", "Loan_Amount": "250000", "IP_Address": "203.0.113.7", "Consent_Time": "2026-01-31 09:30:00",
	})
	return `<PostResponse><Result>Accepted</Result><Lead_ID>4711</Lead_ID></PostResponse>`
}

// checkForm checks that a form has exactly the wanted values.
func (e formEndpoint) checkForm(form url.Values, want map[string]string) {
	e.t.Helper()
	for name, value := range want {
		if form.Get(name) != value || len(form[name]) != 1 {
			e.t.Errorf("%s is %q, want %q", name, form[name], value)
		}
	}
	if len(form) != len(want) {
		e.t.Errorf("%d parameters, want %d: %v", len(form), len(want), form)
	}
}

// formLead is the supplier's lead.
const formLead = `{"first_name":"ann","last_name":"o'neil & co=1","phone":"+17025550123","email":"ann@example.com","state":"NV","zip":"89101-2345",
	"line1":"1 Main St #4","city":"Las Vegas","homeowner":true,"loan_amount":"250000","ip_address":"203.0.113.7","consent_timestamp":"2026-01-31T01:30:00-08:00"}`

func TestFormEndpointWithXMLAnswers(t *testing.T) {
	o, c := loadExample(t, "form-ping-post.yaml", formLead), newClient(t)
	server := startEndpoint(t, formEndpoint{t}.answer)

	bid := o.ping(t, c, server)
	if bid.Outcome != market.OutcomeNone || bid.Bid.Amount != 10_250_000 || bid.Bid.Token != "H-55/a" || bid.Bid.Currency != (market.Currency{}) {
		t.Fatalf("%+v", bid)
	}
	if sold := o.post(t, c, server, bid.Bid); sold.Verdict != market.VerdictAccepted || sold.BuyerLeadID != "4711" {
		t.Errorf("%+v", sold)
	}
	o.setLead(t, `{"first_name":"John","last_name":"Doe","phone":"+17025550123","email":"john@example.com"}`)
	if refused := o.post(t, c, server, bid.Bid); refused.Verdict != market.VerdictRefused || refused.Code != "duplicate" || !refused.Final {
		t.Errorf("%+v", refused)
	}
	if o.buyer.Post.MayRepeatPost() {
		t.Error("the post is marked idempotent")
	}
}
