package trial

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/load"
)

// answered gets an answer over a connection, as the client does.
func answered(t *testing.T, status int, retry, body string) *load.Answer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &fasthttp.Server{CloseOnShutdown: true, Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.SetStatusCode(status)
		if retry != "" {
			ctx.Response.Header.Set("Retry-After", retry)
		}
		ctx.SetBodyString(body)
	}}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	line := load.To(listener.Addr().String())
	trip, err := line.Ask([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	line.Close()
	if err := errors.Join(server.Shutdown(), <-served); err != nil {
		t.Fatal(err)
	}
	return &trip.Answer
}

const (
	soldByIngest = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy","campaign_id":"c","price":{"amount":4.25,"currency":"USD"}}}`
	unmatched    = `{"data":{"id":"lead_2","status":"UNMATCHED","buyer_id":null,"campaign_id":"c","reason":"caps_full"}}`
	soldByPost   = `{"auction_id":"a","lead_id":"theirs","id":"lead_3","status":"ACCEPTED","buyer_id":"buy","price":{"amount":8,"currency":"USD"}}`
	aBid         = `{"auction_id":"a","bid":{"amount":8,"currency":"USD","bid_token":"bid_x","valid_until":"2026-03-02T12:00:05.000Z"}}`
	noBid        = `{"auction_id":"a","bid":null,"reject_reason":"no_bid","reject_detail":"nobody"}`
)

func fault(code string) string {
	return fmt.Sprintf(`{"error":%q,"message":"because","request_id":"req_x"}`, code)
}

func TestAnswersAreUnderstood(t *testing.T) {
	for _, test := range []struct {
		name   string
		what   timed
		status int
		retry  string
		body   string
		want   verdict
	}{
		{"a lead sold", timedIngest, 201, "", soldByIngest, verdict{sale: Sale{"lead_1", "buy", 4_250_000}}},
		{"a lead nobody wants", timedIngest, 201, "", unmatched, verdict{end: Unsold, reason: "caps_full"}},
		{"a lead at fault", timedIngest, 422, "", fault("invalid_payload"), verdict{end: Failed, reason: "HTTP 422 invalid_payload"}},
		{"a key nobody knows", timedIngest, 401, "", fault("unauthorized"), verdict{end: Failed, reason: "HTTP 401 unauthorized"}},
		{"too many", timedIngest, 429, "1", fault("rate_limited"), verdict{end: Refused, reason: "rate_limited"}},
		{"too many, and no word when", timedIngest, 429, "", fault("rate_limited"), verdict{end: Refused, reason: "rate_limited", rude: true}},
		{"not now", timedPost, 503, "2", fault("unavailable"), verdict{end: Refused, reason: "unavailable"}},
		{"not now, and no word when", timedPing, 503, "", fault("unavailable"), verdict{end: Refused, reason: "unavailable", rude: true}},
		{"a bid", timedPing, 200, "", aBid, verdict{token: "bid_x"}},
		{"no bid", timedPing, 200, "", noBid, verdict{end: Unsold, reason: "no_bid"}},
		{"neither", timedPing, 200, "", `{"auction_id":"a"}`, verdict{end: Failed, reason: "HTTP 200 "}},
		{"a ping answered as a lead", timedPing, 201, "", soldByIngest, verdict{end: Failed, reason: "HTTP 201 "}},
		{"an auction of that name", timedPing, 409, "", fault("auction_exists"), verdict{end: Failed, reason: "HTTP 409 auction_exists"}},
		{"a lead posted", timedPost, 201, "", soldByPost, verdict{sale: Sale{"lead_3", "buy", 8_000_000}}},
		{"a bid that is over", timedPost, 410, "", fault("bid_expired"), verdict{end: Unsold, reason: "bid_expired"}},
		{"a lead the buyer refuses", timedPost, 422, "", fault("post_rejected"), verdict{end: Unsold, reason: "post_rejected"}},
		{"a post at fault", timedPost, 422, "", fault("invalid_bid_token"), verdict{end: Failed, reason: "HTTP 422 invalid_bid_token"}},
		{"a buyer that broke off", timedPost, 502, "1", fault("buyer_unavailable"), verdict{end: Open, reason: "buyer_unavailable"}},
		{"a buyer that is silent", timedPost, 504, "1", fault("buyer_timeout"), verdict{end: Open, reason: "buyer_timeout"}},
		{"an ingest cannot hang so", timedIngest, 504, "1", fault("buyer_timeout"), verdict{end: Failed, reason: "HTTP 504 buyer_timeout"}},
		{"a fault of the server", timedIngest, 500, "", fault("internal"), verdict{end: Failed, reason: "HTTP 500 internal"}},
		{"no JSON", timedIngest, 201, "", "sold!", verdict{end: Failed, reason: "HTTP 201 without JSON"}},
		{"nothing", timedPost, 201, "", "", verdict{end: Failed, reason: "HTTP 201 without JSON"}},
		{"sold to nobody", timedIngest, 201, "", `{"data":{"id":"lead_1","status":"ACCEPTED"}}`, verdict{end: Failed, reason: "HTTP 201 without a buyer"}},
		{"sold, and no id", timedPost, 201, "", `{"status":"ACCEPTED","buyer_id":"buy"}`, verdict{end: Failed, reason: "HTTP 201 without a buyer"}},
	} {
		if got := judge(test.what, answered(t, test.status, test.retry, test.body)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestWhyNoAnswerCame: the last word of an error says it; addresses, which are others for
// each connection, would make every one a reason of its own.
func TestWhyNoAnswerCame(t *testing.T) {
	for text, want := range map[string]string{
		"read tcp 127.0.0.1:5->127.0.0.1:6: read: connection reset by peer": "connection reset by peer",
		"no answer: EOF": "EOF",
		"closed":         "closed",
	} {
		if v := broken(errors.New(text)); v.end != Broken || v.reason != want {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

func TestEveryEndHasAName(t *testing.T) {
	seen := map[string]bool{}
	for end := range Ends {
		if name := end.String(); name == "" || strings.ToLower(name) != name || seen[name] {
			t.Errorf("end %d is called %q", end, name)
		}
		seen[end.String()] = true
	}
}
