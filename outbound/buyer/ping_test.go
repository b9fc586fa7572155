package buyer

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// pingTo returns a ping of the auction auc_1 to an address.
func pingTo(url string, within time.Duration) *market.BuyerPingRequest {
	return &market.BuyerPingRequest{
		Endpoint:       market.OutboundEndpoint{URL: url},
		IdempotencyKey: "ping-1",
		RequestID:      market.RequestID{1},
		Hops:           2,
		Body:           []byte(`{"auction_id":"auc_1","vertical":"auto_insurance","state":"CA"}`),
		Auction:        []byte("auc_1"),
		Deadline:       time.Now().Add(within),
	}
}

func (e *endpoint) ping() string { return "http://" + e.Address + "/v1/ping" }

func withoutTimes(r market.BuyerPingResult) market.BuyerPingResult {
	r.Elapsed = 0
	return r
}

// bidWith returns an answer whose bid has these members.
func bidWith(members string) string { return `{"auction_id":"auc_1","bid":{` + members + `}}` }

// verdict formats a result as in the tables: the outcome, then the bid or the reason.
func verdict(r market.BuyerPingResult) string {
	words := []string{r.Outcome.String()}
	if r.Outcome == market.OutcomeNone {
		words = []string{"bid", r.Bid.Amount.String() + r.Bid.Currency.String(), r.Bid.Token}
		if r.Bid.ValidUntil != 0 {
			words = append(words, time.Unix(0, r.Bid.ValidUntil).UTC().Format(time.RFC3339Nano))
		}
	} else if r.Bid != (market.Bid{}) {
		words = append(words, fmt.Sprint("unexpected bid: ", r.Bid))
	}
	if r.Fault != market.FaultNone {
		words = append(words, r.Fault.String())
	}
	if r.Reason != "" {
		words = append(words, r.Reason)
	}
	if r.RetryAfter != 0 {
		words = append(words, r.RetryAfter.String())
	}
	return strings.Join(words, " ")
}

// pingRow is the body of a 200 and its result.
type pingRow struct{ name, body, want string }

var bids = []pingRow{
	{"all members", bidWith(`"amount":12.5,"currency":"USD","bid_token":"tok","valid_until":"2026-03-02T12:00:04.5Z"`), "bid 12.5USD tok 2026-03-02T12:00:04.5Z"},
	{"the smallest amount", bidWith(`"amount":0.000001,"bid_token":"t"`), "bid 0.000001 t"},
	{"nulls are ignored", bidWith(`"amount":1,"bid_token":"t","currency":null,"valid_until":null`), "bid 1 t"},
	{"digits past the sixth are cut", bidWith(`"amount":9.9999999,"bid_token":"t"`), "bid 9.999999 t"},
	{"an exponent", bidWith(`"amount":1.25e1,"bid_token":"t"`), "bid 12.5 t"},
	{"the largest amount", bidWith(`"amount":1000000,"bid_token":"t"`), "bid 1000000 t"},
	{"another zone", bidWith(`"amount":1,"bid_token":"t","valid_until":"2026-03-02T04:00:00-08:00"`), "bid 1 t 2026-03-02T12:00:00Z"},
	{"valid until the last year", bidWith(`"amount":1,"bid_token":"t","valid_until":"9999-12-31T23:59:59Z"`), "bid 1 t 2262-04-11T23:47:16.854775807Z"},
	{"valid until before 1970", bidWith(`"amount":1,"bid_token":"t","valid_until":"1969-12-31T23:59:59Z"`), "bid 1 t 1970-01-01T00:00:00.000000001Z"},
	{"the longest token", bidWith(`"amount":1,"bid_token":"` + strings.Repeat("t", 512) + `"`), "bid 1 " + strings.Repeat("t", 512)},
	{"a token with escapes", bidWith(`"amount":1,"bid_token":"\u0074\/"`), "bid 1 t/"},
	{"unknown members", `{"buyer_filters_passed":["state"],"x":{"bid":null},"auction_id":"auc_1","bid":{"amount":3,"bid_token":"t","more":[1]}}`, "bid 3 t"},
}

var noBids = []pingRow{
	{"with a reason", `{"auction_id":"auc_1","bid":null,"reject_reason":"state","reject_detail":"Ann lives elsewhere"}`, "no_bid state"},
	{"without a reason", `{"auction_id":"auc_1","bid":null}`, "no_bid"},
	{"without the auction", `{"bid":null,"reject_reason":"capped"}`, "no_bid capped"},
	{"a reason too long", `{"bid":null,"reject_reason":"` + long + `"}`, "no_bid"},
	{"an unprintable reason", `{"bid":null,"reject_reason":"a\n\u00e9b"}`, "no_bid"},
	{"a reason that is an object", `{"bid":null,"reject_reason":{"code":1}}`, "no_bid"},
	{"of another auction", `{"auction_id":"auc_2","bid":null}`, "invalid malformed auction_id"},
}

var malformedBids = []pingRow{
	{"no auction_id", `{"bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed auction_id"},
	{"another auction", `{"auction_id":"auc_2","bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed auction_id"},
	{"an auction_id in capitals", `{"auction_id":"AUC_1","bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed auction_id"},
	{"an auction_id that is a number", `{"auction_id":1,"bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed auction_id"},
	{"a null auction_id", `{"auction_id":null,"bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed auction_id"},
	{"no bid member", `{"auction_id":"auc_1"}`, "invalid malformed bid"},
	{"an error", `{"error":"internal"}`, "invalid malformed bid"},
	{"a bid that is a number", `{"auction_id":"auc_1","bid":12.5}`, "invalid malformed bid"},
	{"a bid that is a list", `{"auction_id":"auc_1","bid":[{"amount":1,"bid_token":"t"}]}`, "invalid malformed bid"},
	{"false", `{"auction_id":"auc_1","bid":false}`, "invalid malformed bid"},
	{"names are case-sensitive", `{"auction_id":"auc_1","Bid":{"amount":1,"bid_token":"t"}}`, "invalid malformed bid"},
	{"an empty bid", bidWith(``), "invalid malformed bid.amount"},
	{"no amount", bidWith(`"bid_token":"t"`), "invalid malformed bid.amount"},
	{"a null amount", bidWith(`"amount":null,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"an amount in a string", bidWith(`"amount":"12.5","bid_token":"t"`), "invalid malformed bid.amount"},
	{"an amount that is an object", bidWith(`"amount":{"value":1},"bid_token":"t"`), "invalid malformed bid.amount"},
	{"a negative amount", bidWith(`"amount":-0.01,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"zero", bidWith(`"amount":0,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"minus zero", bidWith(`"amount":-0,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"zero with decimals", bidWith(`"amount":0.00,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"less than a float can hold", bidWith(`"amount":1e-400,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"less than a millionth", bidWith(`"amount":0.0000001,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"nearly a millionth", bidWith(`"amount":9.99e-7,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"too much", bidWith(`"amount":1000000.000001,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"far too much", bidWith(`"amount":1e999999,"bid_token":"t"`), "invalid malformed bid.amount"},
	{"a currency in small letters", bidWith(`"amount":1,"bid_token":"t","currency":"usd"`), "invalid malformed bid.currency"},
	{"a currency that is a number", bidWith(`"amount":1,"bid_token":"t","currency":840`), "invalid malformed bid.currency"},
	{"no token", bidWith(`"amount":1`), "invalid malformed bid.bid_token"},
	{"a null token", bidWith(`"amount":1,"bid_token":null`), "invalid malformed bid.bid_token"},
	{"an empty token", bidWith(`"amount":1,"bid_token":""`), "invalid malformed bid.bid_token"},
	{"a token that is a number", bidWith(`"amount":1,"bid_token":7`), "invalid malformed bid.bid_token"},
	{"a token with a space", bidWith(`"amount":1,"bid_token":"a b"`), "invalid malformed bid.bid_token"},
	{"a token with an end of line", bidWith(`"amount":1,"bid_token":"a\r\nb"`), "invalid malformed bid.bid_token"},
	{"a token beyond ASCII", bidWith(`"amount":1,"bid_token":"é"`), "invalid malformed bid.bid_token"},
	{"a token too long", bidWith(`"amount":1,"bid_token":"` + strings.Repeat("t", 513) + `"`), "invalid malformed bid.bid_token"},
	{"seconds since 1970", bidWith(`"amount":1,"bid_token":"t","valid_until":1772452800`), "invalid malformed bid.valid_until"},
	{"a time without a zone", bidWith(`"amount":1,"bid_token":"t","valid_until":"2026-03-02T12:00:00"`), "invalid malformed bid.valid_until"},
	{"an invalid time", bidWith(`"amount":1,"bid_token":"t","valid_until":"soon"`), "invalid malformed bid.valid_until"},
	{"not JSON", `OK thanks`, "invalid unreadable"},
	{"HTML", `<html><body>It works!</body></html>`, "invalid unreadable"},
	{"an empty body", ``, "invalid unreadable"},
	{"null", `null`, "invalid unreadable"},
	{"a list", `[{"auction_id":"auc_1","bid":null}]`, "invalid unreadable"},
	{"truncated JSON", `{"auction_id":"auc_1","bid":{"amount":1`, "invalid unreadable"},
	{"two answers", `{"auction_id":"auc_1","bid":null}{}`, "invalid unreadable"},
	{"a duplicate member", bidWith(`"amount":1,"amount":9,"bid_token":"t"`), "invalid unreadable"},
	{"bad UTF-8", "{\"auction_id\":\"auc_1\",\"bid\":null,\"x\":\"\xff\"}", "invalid unreadable"},
	{"too deep", `{"auction_id":"auc_1","bid":null,"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "invalid unreadable"},
	{"an amount of 201 digits", bidWith(`"amount":1` + strings.Repeat("0", 200) + `,"bid_token":"t"`), "invalid unreadable"},
}

// The table lists the answers that a 200 may contain, over real sockets.
func TestPingAnswers(t *testing.T) {
	for _, row := range slices.Concat(bids, noBids, malformedBids) {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers("200 OK", row.body))
			got := newClient(t, nil).Ping(pingTo(buyer.ping(), longTimeout))
			if verdict(got) != row.want || got.Status != 200 {
				t.Errorf("%d %s, want %s", got.Status, verdict(got), row.want)
			}
		})
	}
}

// Only a 200 can be a bid, regardless of the body.
func TestPingStatusesOtherThan200(t *testing.T) {
	offer := bidWith(`"amount":12,"bid_token":"t"`)
	rows := []struct {
		status, body string
		want         string
	}{
		{"201 Created", offer, "error"},
		{"202 Accepted", offer, "error"},
		{"204 No Content", "", "error"},
		{"301 Moved Permanently", offer, "error"},
		{"400 Bad Request", `{"error":"bad_request"}`, "error bad_request"},
		{"401 Unauthorized", `{"error":"unauthorized"}`, "error unauthorized"},
		{"403 Forbidden", `{"error":"insufficient_scope"}`, "error insufficient_scope"},
		{"404 Not Found", `<html>`, "error"},
		{"422 Unprocessable Content", `{"error":"invalid_payload"}`, "error invalid_payload"},
		{"500 Internal Server Error", `{"error":"internal"}`, "error internal"},
		{"503 Service Unavailable", offer, "error"},
		{"503 Service Unavailable", big, "error too_large"},
		{"101 Switching Protocols", "", "error"},
		{"799 What", offer, "error"},
	}
	for _, row := range rows {
		t.Run(row.status, func(t *testing.T) {
			buyer := listen(t, answers(row.status, row.body))
			got := newClient(t, nil).Ping(pingTo(buyer.ping(), longTimeout))
			if verdict(got) != row.want || fmt.Sprint(got.Status) != row.status[:3] {
				t.Errorf("%d %s, want %s", got.Status, verdict(got), row.want)
			}
			if n := len(buyer.Requests()); n != 1 {
				t.Errorf("the buyer received %d requests, want 1", n)
			}
		})
	}
}

// The client sends a ping again only if the endpoint had closed the kept connection, as
// endpoints do with idle ones.
func TestPingIsSentAgainOnlyAfterStaleConn(t *testing.T) {
	bid, closed := answers("200 OK", bidWith(`"amount":12,"bid_token":"t"`)), dialtest.WriteAndClose("")
	rows := []struct {
		name    string
		key     string
		replies []reply
		want    string
		sent    int
	}{
		{"stale", "k", []reply{closed, bid}, "bid 12 t", 2},
		{"stale twice", "k", []reply{closed, closed, bid}, "error broken", 2},
		{"stale, without a key", "", []reply{closed, bid}, "error broken", 1},
		{"500", "k", []reply{answers("500 Internal Server Error", ``), bid}, "error", 1},
		{"429", "k", []reply{answers("429 Too Many Requests", ``, "Retry-After: 0"), bid}, "rate_limited", 1},
		{"broken off", "k", []reply{dialtest.WriteAndClose("HTTP/1.1"), bid}, "error broken", 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, append([]reply{bid}, row.replies...)...)
			client := newClient(t, nil)
			client.Ping(pingTo(buyer.ping(), longTimeout))
			p := pingTo(buyer.ping(), longTimeout)
			p.IdempotencyKey = row.key
			if got := verdict(client.Ping(p)); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			if sent := len(buyer.Requests()) - 1; sent != row.sent {
				t.Errorf("sent %d times, want %d", sent, row.sent)
			}
		})
	}
}

// A ping is rate_limited before its deadline if all connections of its buyer are in use.
// Other buyers at the same address, and the buyer's test endpoint, have other connections.
// A new limit applies at once.
func TestConnectionLimitIsPerBuyer(t *testing.T) {
	release := make(chan struct{})
	bids := answers("200 OK", bidWith(`"amount":1,"bid_token":"t"`))
	shared := listen(t, func(c net.Conn) bool {
		<-release
		return bids(c)
	}, bids)
	client := newClient(t, func(o *Options) { o.ConnWait = longTimeout })
	limit := func(conns int) {
		client.SetConnLimits(map[market.BuyerID]*market.Buyer{"buy_a": {MaxConnections: conns}, "buy_b": {MaxConnections: 1}})
	}
	limit(1)
	ping := func(buyer market.BuyerID, test bool, within time.Duration) string {
		p := pingTo(shared.ping(), within)
		p.Buyer, p.Test = buyer, test
		return verdict(client.Ping(p))
	}
	first := make(chan string)
	go func() { first <- ping("buy_a", false, longTimeout) }()
	for len(shared.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := ping("buy_a", false, shortTimeout); got != "rate_limited crowded" {
		t.Errorf("at the limit: got %s", got)
	}
	if got := ping("buy_b", false, longTimeout); got != "bid 1 t" {
		t.Errorf("another buyer: got %s, want a bid", got)
	}
	if got := ping("buy_a", true, longTimeout); got != "bid 1 t" {
		t.Errorf("test endpoint: got %s, want a bid", got)
	}
	limit(2)
	if got := ping("buy_a", false, longTimeout); got != "bid 1 t" {
		t.Errorf("after the limit rose: got %s, want a bid", got)
	}
	close(release)
	if got := <-first; got != "bid 1 t" {
		t.Errorf("first ping: got %s, want a bid", got)
	}
}
