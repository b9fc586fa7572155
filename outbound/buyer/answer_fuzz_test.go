package buyer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/internal/strictjson"
	"pingpost/outbound/dial"
)

var answerSeeds = []string{
	`{"auction_id":"auc_1","bid":{"amount":12.5,"currency":"USD","bid_token":"t","valid_until":"2026-01-31T09:30:00Z"}}`, `{"auction_id":"auc_1","bid":{"amount":0.1234569,"bid_token":"t"}}`,
	`{"bid":null,"reject_reason":"state"}`, `{"auction_id":"other","bid":null}`, `{"auction_id":"auc_1","bid":{"amount":-1,"bid_token":"t"}}`, `{"auction_id":"auc_1","bid":{"amount":"1","bid_token":"t"}}`,
	`{"auction_id":"auc_1","bid":{"amount":1,"bid_token":"a b"}}`, `{"auction_id":"auc_1","bid":{"amount":1,"currency":"usd","bid_token":"t"}}`, `{"auction_id":"auc_1","bid":{"amount":1,"bid_token":"t","valid_until":7}}`,
	`{"lead_id":"x"}`, `{"lead_id":"a@b","id":7}`, `{"data":{"id":"y"}}`, `{"error":"duplicate"}`, `{"error":false,"reject_reason":""}`, `{"reject_reason":{"a":1}}`, `{"error":"idempotency_key_reused"}`,
	`{}`, `[]`, `null`, ``, `{"a":1}x`, `{"bid":null,"bid":{}}`, `{"error":"Ann Lee is known to us"}`, "<html>It works!</html>", `{"error":5}`,
}

// objectOf reads a body that is a JSON object by the contract, whose strictness is
// strictjson's to show.
func decodeObject(body []byte) (object map[string]any, ok bool) {
	if new(strictjson.Object).Parse(body) != nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return object, decoder.Decode(&object) == nil
}

var (
	codeForm  = regexp.MustCompile(`\A[a-z][a-z0-9_.-]{0,63}\z`)
	idForm    = regexp.MustCompile(`\A[[:graph:]]{1,128}\z`)
	tokenForm = regexp.MustCompile(`\A[[:graph:]]{1,512}\z`)
)

// textOf is what a string or a number says.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// plainRefusal tells whether an answer says no, and the first code that it gives.
func wantRejection(object map[string]any) (refused bool, code string) {
	for _, name := range []string{"error", "reject_reason"} {
		if value := object[name]; value != nil && value != false && value != "" {
			refused = true
			if text := textOf(value); code == "" && codeForm.MatchString(text) {
				code = text
			}
		}
	}
	return refused, code
}

// plainPost is what the contract makes of an answer to a post.
func wantPost(status int, body []byte) (r market.PostResult) {
	r.Status = status
	object, ok := decodeObject(body)
	refused, code := wantRejection(object)
	switch {
	case (status == 200 || status == 201) && !ok:
		r.Verdict, r.Fault = market.VerdictUnknown, market.FaultUnreadable
	case status == 200 || status == 201:
		if refused {
			r.Verdict, r.Code, r.Final = market.VerdictRefused, code, code != "idempotency_key_reused"
			return r
		}
		r.Verdict = market.VerdictAccepted
		data, _ := object["data"].(map[string]any)
		for _, id := range []any{object["lead_id"], object["id"], object["buyer_lead_id"], data["id"]} {
			if text := textOf(id); r.BuyerLeadID == "" && idForm.MatchString(text) && !strings.Contains(text, "@") {
				r.BuyerLeadID = text
			}
		}
	case status == 429:
		r.Verdict, r.Code, r.RetryAfter = market.VerdictBusy, code, time.Second
	case status == 408 || status < 300 || status >= 500:
		r.Verdict, r.Code = market.VerdictUnknown, code
	default:
		r.Verdict, r.Code, r.Final = market.VerdictRefused, code, status >= 400 && code != "idempotency_key_reused"
		for _, soft := range []int{401, 403, 409, 410, 425} {
			r.Final = r.Final && status != soft
		}
	}
	return r
}

// plainPing is what the contract makes of a 200 to a ping.
func wantPing(body []byte) (r market.PingResult) {
	r.Status = 200
	object, ok := decodeObject(body)
	if !ok {
		r.Outcome, r.Fault = market.OutcomeInvalid, market.FaultUnreadable
		return r
	}
	malformed := func(at string) market.PingResult {
		return market.PingResult{Status: 200, Outcome: market.OutcomeInvalid, Fault: market.FaultMalformed, Reason: at}
	}
	echo, echoes := object["auction_id"]
	bid, isBid := object["bid"].(map[string]any)
	_, said := object["bid"]
	switch {
	case echoes && echo != "auc_1":
		return malformed("auction_id")
	case said && object["bid"] == nil:
		r.Outcome = market.OutcomeNoBid
		_, r.Reason = wantRejection(object)
		return r
	case !isBid:
		return malformed("bid")
	case !echoes:
		return malformed("auction_id")
	}
	number, isNumber := bid["amount"].(json.Number)
	amount, err := market.ParseBidAmount([]byte(number))
	if !isNumber || err != nil {
		return malformed("bid.amount")
	}
	r.Bid.Amount = amount
	if value := bid["currency"]; value != nil {
		text, _ := value.(string)
		if r.Bid.Currency, ok = market.ParseCurrency(text); !ok {
			return malformed("bid.currency")
		}
	}
	if value := bid["valid_until"]; value != nil {
		text, _ := value.(string)
		if r.Bid.ValidUntil, ok = format.ParseTimestamp([]byte(text)); !ok {
			return malformed("bid.valid_until")
		}
	}
	if r.Bid.Token, _ = bid["bid_token"].(string); !tokenForm.MatchString(r.Bid.Token) {
		return malformed("bid.bid_token")
	}
	return r
}

// FuzzAnswer holds the reading of a buyer's answers, to pings and to posts, against
// the contract read naively over encoding/json. Every status and body has a verdict.
func FuzzAnswer(f *testing.F) {
	for i, body := range answerSeeds {
		f.Add(uint16(199+i%2), []byte(body))
		f.Add(uint16([]int{301, 400, 407, 408, 421, 428, 499, 203, 98, 599}[i%10]), []byte(body))
	}
	client := New(Options{Now: func() time.Time { return time.Unix(0, 0) }, Secrets: func(string) (string, bool) { return "", false }})
	f.Cleanup(client.Close)
	f.Fuzz(func(t *testing.T, status uint16, body []byte) { // one less than the status, which is never zero
		answered := dial.SendResult{Status: int(status%900) + 1, Sent: true}
		var response fasthttp.Response
		response.SetBodyRaw(body)
		if got, want := client.judgePost(nil, answered, &response), wantPost(answered.Status, body); got != want {
			t.Fatalf("post: %d %q: %+v\nwant %+v", answered.Status, body, got, want)
		}
		answered.Status = 200
		if got, want := client.judgePing(&market.PingRequest{Auction: []byte("auc_1")}, new(buyerEndpoint), answered, &response), wantPing(body); got != want {
			t.Fatalf("ping: %q: %+v\nwant %+v", body, got, want)
		}
	})
}
