package seller

import (
	"errors"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/must"
)

const saleAnswer = `{"auction_id":"k1","lead_id":"theirs","id":"lead_1","status":"ACCEPTED","buyer_id":"buy_a","price":{"amount":9.64,"currency":"USD"}}`

// TestPostReadsPingOutput: post reads the standard output of ping.
func TestPostReadsPingOutput(t *testing.T) {
	x := newRecordingExchange(t, 200, bidAnswer)
	bid, _, err := command(t, "ping --token T --key k1 --url "+x.URL, "")
	must.Succeed(t, err)
	x.status, x.body = 201, saleAnswer
	out, stderr, err := command(t, "post --client-id acme --client-secret s --key k2 --url "+x.URL+" - lead.first_name=Ann lead.address.zip=94105", bid)
	if err != nil || out != saleAnswer+"\n" {
		t.Errorf("%v, %s", err, out)
	}
	if want := "sold 9.64 USD\nid lead_1\nbuyer_id buy_a\nlead_id theirs\nkey k2\nrequest_id req_1\n"; collapseSpaces(stderr) != want {
		t.Errorf("stderr %q", collapseSpaces(stderr))
	}
	want := []string{
		"acme grant_type=client_credentials&scope=post",
		`POST /v1/post Bearer given {"auction_id":"k1","bid_token":"bid_1","lead":{"address":{"zip":"94105"},"first_name":"Ann","lead_uuid":"k2"}}`,
	}
	if strings.Join(x.requests[1:], "\n") != strings.Join(want, "\n") || x.keys[1] != "k2" {
		t.Errorf("requests %q, want %q", x.requests[1:], want)
	}
}

func TestPostFields(t *testing.T) {
	for _, row := range []struct{ in, args, want string }{
		{bidAnswer, "bid_token=other", `{"auction_id":"k1","bid_token":"other","lead":{"lead_uuid":"k"}}`},
		{bidAnswer, "auction_id=a lead.lead_uuid=mine", `{"auction_id":"a","bid_token":"bid_1","lead":{"lead_uuid":"mine"}}`},
		{`{"bid_token":"b","lead":{"lead_uuid":7}}`, "", `{"bid_token":"b","lead":{"lead_uuid":7}}`},
		{`{"lead":{"first_name":"Ann"}}`, "", `{"lead":{"first_name":"Ann","lead_uuid":"k"}}`},
	} {
		x := newRecordingExchange(t, 201, saleAnswer)
		if _, _, err := command(t, "post --token T --key k - "+row.args+" --url "+x.URL, row.in); err != nil {
			t.Error(err)
		} else if got := strings.TrimPrefix(x.requests[0], "POST /v1/post Bearer T "); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

func TestPostRequiresBid(t *testing.T) {
	x := newRecordingExchange(t, 201, saleAnswer)
	for in, want := range map[string]string{
		noBidAnswer:                   "no lead can be posted: caps_full",
		`{"data":{"ping_id":"p"}}`:    "send the lead to /api/v1/ingest",
		`{"bid":"x"}`:                 "no lead can be posted",
		`{"auction_id":"a","bid":[]}`: "no lead can be posted",
		"":                            "standard input is empty",
	} {
		if _, _, err := command(t, "post --token T - --url "+x.URL, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	if len(x.requests) > 0 {
		t.Errorf("requests %q", x.requests)
	}
}

func TestRejectedPost(t *testing.T) {
	x := newRecordingExchange(t, 422, `{"error":"post_rejected","message":"Not taken.","request_id":"req_1","reason":"duplicate"}`)
	out, stderr, err := command(t, "post --token T --key k --url "+x.URL, "")
	var code terminal.ExitCodeError
	if !errors.As(err, &code) || code != 1 || out != "" || !strings.Contains(collapseSpaces(stderr), "reason duplicate\n") {
		t.Errorf("%v, %q, %s", err, out, stderr)
	}
}
