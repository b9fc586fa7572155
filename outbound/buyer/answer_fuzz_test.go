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
	`{"lead_id":"x"}`, `{"lead_id":"a@b","id":7}`, `{"data":{"id":"y"}}`, `{"error":"duplicate"}`, `{"error":false,"reject_reason":""}`, `{"reject_reason":{"a":1}}`, `{"error":"idempotency_key_reused"}`, `{"error":"idempotency_key_reused","reject_reason":"key"}`, `{"status":"Rejected"}`, `{"success":false}`,
	`{}`, `[]`, `null`, ``, `{"a":1}x`, `{"bid":null,"bid":{}}`, `{"error":"Ann Lee is known to us"}`, "<html>It works!</html>", `{"error":5}`,
}

// decodeObject decodes a JSON object with encoding/json if strictjson accepts it.
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

// textOf returns the text of a string or a number.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// wantRejection reports whether an answer is a refusal, and returns its first valid code, that of
// reject_reason before that of error. keyReused says that one of them is that of a reused key.
func wantRejection(object map[string]any) (refused bool, code string, keyReused bool) {
	for _, name := range []string{"reject_reason", "error"} {
		if value := object[name]; value != nil && value != false && value != "" {
			refused = true
			keyReused = keyReused || textOf(value) == "idempotency_key_reused"
			if text := textOf(value); code == "" && codeForm.MatchString(text) {
				code = text
			}
		}
	}
	return refused, code, keyReused
}

// wantDoubt returns the code of an acceptance whose body looks like a rejection, or "".
func wantDoubt(object map[string]any) string {
	status, _ := object["status"].(string)
	for _, word := range strings.Fields("rejected refused declined denied failed error invalid duplicate unsold") {
		if strings.EqualFold(status, word) {
			return "status_" + word
		}
	}
	switch {
	case object["accepted"] == false:
		return "accepted_false"
	case object["success"] == false:
		return "success_false"
	}
	return ""
}

// wantPost returns the result of an answer to a post, as the contract defines it.
func wantPost(status int, body []byte) (r market.BuyerPostResult) {
	r.Status = status
	object, ok := decodeObject(body)
	refused, code, keyReused := wantRejection(object)
	switch {
	case (status == 200 || status == 201) && !ok:
		r.Verdict, r.Fault = market.VerdictUnknown, market.FaultUnreadable
	case status == 200 || status == 201:
		if refused {
			r.Verdict, r.Code, r.Final = market.VerdictRefused, code, !keyReused
			return r
		}
		r.Verdict, r.Code = market.VerdictAccepted, wantDoubt(object)
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
		r.Verdict, r.Code, r.Final = market.VerdictRefused, code, status >= 400 && !keyReused
		for _, soft := range []int{401, 403, 409, 410, 425} {
			r.Final = r.Final && status != soft
		}
	}
	return r
}

// wantPing returns the result of a 200 to a ping, as the contract defines it.
func wantPing(body []byte) (r market.BuyerPingResult) {
	r.Status = 200
	object, ok := decodeObject(body)
	if !ok {
		r.Outcome, r.Fault = market.OutcomeInvalid, market.FaultUnreadable
		return r
	}
	malformed := func(path string) market.BuyerPingResult {
		return market.BuyerPingResult{Status: 200, Outcome: market.OutcomeInvalid, Fault: market.FaultMalformed, Reason: path}
	}
	auction, hasAuction := object["auction_id"]
	bid, isBid := object["bid"].(map[string]any)
	_, hasBid := object["bid"]
	switch {
	case hasAuction && auction != "auc_1":
		return malformed("auction_id")
	case hasBid && object["bid"] == nil:
		r.Outcome = market.OutcomeNoBid
		_, r.Reason, _ = wantRejection(object)
		return r
	case !isBid:
		return malformed("bid")
	case !hasAuction:
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
		if r.Bid.ValidUntil, ok = format.ParseTimestampClamped([]byte(text)); !ok {
			return malformed("bid.valid_until")
		}
	}
	if r.Bid.Token, _ = bid["bid_token"].(string); !tokenForm.MatchString(r.Bid.Token) {
		return malformed("bid.bid_token")
	}
	return r
}

// FuzzAnswer compares the client's results for arbitrary answers to pings and posts with
// a simple implementation of the contract over encoding/json.
func FuzzAnswer(f *testing.F) {
	for i, body := range answerSeeds {
		f.Add(uint16(199+i%2), []byte(body))
		f.Add(uint16([]int{301, 400, 407, 408, 421, 428, 499, 203, 98, 599}[i%10]), []byte(body))
	}
	client := New(Options{Now: func() time.Time { return time.Unix(0, 0) }, Secrets: func(string) (string, bool) { return "", false }})
	f.Cleanup(client.Close)
	f.Fuzz(func(t *testing.T, status uint16, body []byte) { // the HTTP status minus one, because that is never zero
		pingRow := dial.SendResult{Status: int(status%900) + 1, Sent: true}
		var response fasthttp.Response
		response.SetBodyRaw(body)
		if got, want := client.judgePost(nil, pingRow, &response), wantPost(pingRow.Status, body); got != want {
			t.Fatalf("post: %d %q: %+v\nwant %+v", pingRow.Status, body, got, want)
		}
		pingRow.Status = 200
		if got, want := client.judgePingAndPauseAfter429(&market.BuyerPingRequest{Auction: []byte("auc_1")}, new(buyerEndpoint), pingRow, &response), wantPing(body); got != want {
			t.Fatalf("ping: %q: %+v\nwant %+v", body, got, want)
		}
	})
}
