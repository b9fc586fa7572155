package buyer

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/dial/dialtest"
)

var (
	accepted = market.VerdictAccepted
	refused  = market.VerdictRefused
	unknown  = market.VerdictUnknown
)

// noon is the client's time in the tables.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// answerRow is an answer to a post and its result.
type answerRow struct {
	name  string
	reply reply
	want  market.BuyerPostResult
}

var (
	long = strings.Repeat("x", 129)
	big  = `{"lead_id":"b1","pad":"` + strings.Repeat("x", 64<<10) + `"}`
)

// Acceptance needs a 200 or 201 and a whole JSON object.
var acceptedAnswers = []answerRow{
	{"201 with lead_id", answers("201 Created", `{"lead_id":"b1","id":"b2"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b1"}},
	{"200 with lead_id", answers("200 OK", `{"lead_id":"b1"}`), market.BuyerPostResult{Verdict: accepted, Status: 200, BuyerLeadID: "b1"}},
	{"id", answers("201 Created", `{"id":"b2","buyer_lead_id":"b3"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"buyer_lead_id", answers("201 Created", `{"buyer_lead_id":"b3","data":{"id":"b4"}}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b3"}},
	{"data.id", answers("201 Created", `{"data":{"id":"b4"}}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b4"}},
	{"an id that is a number", answers("201 Created", `{"lead_id":90071992547409931}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "90071992547409931"}},
	{"a null lead_id is skipped", answers("201 Created", `{"lead_id":null,"id":"b2"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"no id", answers("201 Created", `{}`), market.BuyerPostResult{Verdict: accepted, Status: 201}},
	{"an id too long is dropped", answers("201 Created", `{"lead_id":"`+long+`"}`), market.BuyerPostResult{Verdict: accepted, Status: 201}},
	{"an id of 128 bytes", answers("201 Created", `{"lead_id":"`+long[1:]+`"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: long[1:]}},
	{"an unprintable id is dropped", answers("201 Created", `{"lead_id":"a\nb"}`), market.BuyerPostResult{Verdict: accepted, Status: 201}},
	{"an id with a space is dropped", answers("201 Created", `{"lead_id":"Ann Lee"}`), market.BuyerPostResult{Verdict: accepted, Status: 201}},
	{"an id with @ is dropped", answers("201 Created", `{"lead_id":"ann@example.com","id":"b2"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"an id with punctuation", answers("201 Created", `{"lead_id":"!A~9/+="}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "!A~9/+="}},
	{"data that is no object", answers("201 Created", `{"data":[1]}`), market.BuyerPostResult{Verdict: accepted, Status: 201}},
	{"empty errors are ignored", answers("201 Created", `{"lead_id":"b1","error":null,"reject_reason":""}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b1"}},
	{"a status that looks like a rejection", answers("200 OK", `{"status":"Rejected","id":"b2"}`), market.BuyerPostResult{Verdict: accepted, Status: 200, BuyerLeadID: "b2", Code: "status_rejected"}},
	{"another status", answers("200 OK", `{"status":"ok","success":true}`), market.BuyerPostResult{Verdict: accepted, Status: 200}},
	{"success false", answers("200 OK", `{"success":false}`), market.BuyerPostResult{Verdict: accepted, Status: 200, Code: "success_false"}},
	{"accepted false", answers("201 Created", `{"accepted":false,"status":1}`), market.BuyerPostResult{Verdict: accepted, Status: 201, Code: "accepted_false"}},
	{"chunked", dialtest.WriteAndClose("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n6\r\n:\"b2\"}\r\n0\r\n\r\n"), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"body ends with the connection", dialtest.WriteAndClose("HTTP/1.1 201 Created\r\n\r\n{\"id\":\"b2\"}"), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"after 100 Continue", dialtest.WriteAndClose("HTTP/1.1 100 Continue\r\n\r\n" + dialtest.FormatResponse("201 Created", `{"id":"b2"}`)), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
}

// An answer with status 200 or 201 may contain a refusal.
var refusedBodies = []answerRow{
	{"error in a 201", answers("201 Created", `{"lead_id":"b1","error":"duplicate"}`), market.BuyerPostResult{Verdict: refused, Status: 201, Code: "duplicate", Final: true}},
	{"reject_reason in a 200", answers("200 OK", `{"reject_reason":"capped"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "capped", Final: true}},
	{"an error that is an object", answers("200 OK", `{"error":{"code":1},"reject_reason":"capped"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "capped", Final: true}},
	{"reject_reason before error", answers("422 Unprocessable Content", `{"error":"rejected","reject_reason":"bad_phone"}`), market.BuyerPostResult{Verdict: refused, Status: 422, Code: "bad_phone", Final: true}},
	{"reject_reason that is no code", answers("200 OK", `{"error":"rejected","reject_reason":"Bad phone"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "rejected", Final: true}},
	{"a reused key beside a reason", answers("422 Unprocessable Content", `{"error":"idempotency_key_reused","reject_reason":"other_body"}`), market.BuyerPostResult{Verdict: refused, Status: 422, Code: "other_body"}},
	{"a reused key beside a reason in a 200", answers("200 OK", `{"error":"idempotency_key_reused","reject_reason":"other_body"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "other_body"}},
	{"error true has no code", answers("200 OK", `{"error":true}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a reused key in a 200", answers("200 OK", `{"error":"idempotency_key_reused"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "idempotency_key_reused"}},
	{"a code of 64 bytes", answers("200 OK", `{"error":"`+long[:64]+`"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: long[:64], Final: true}},
	{"a code too long is dropped", answers("200 OK", `{"error":"`+long[:65]+`"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a code with punctuation", answers("200 OK", `{"error":"a.b_c-d9"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Code: "a.b_c-d9", Final: true}},
	{"a sentence is dropped", answers("200 OK", `{"error":"ann lee is known"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"an email address is dropped", answers("200 OK", `{"error":"ann@example.com"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a name is dropped", answers("200 OK", `{"error":"Ann"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a phone number is dropped", answers("200 OK", `{"error":"+12125550123"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a number is dropped", answers("200 OK", `{"error":2125550123}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"an unprintable code is dropped", answers("200 OK", `{"error":"a\u0000\u00e9b"}`), market.BuyerPostResult{Verdict: refused, Status: 200, Final: true}},
	{"a code after a dropped one", answers("422 Unprocessable Content", `{"error":"Ann Lee","reject_reason":"capped"}`), market.BuyerPostResult{Verdict: refused, Status: 422, Code: "capped", Final: true}},
}

// Other answers with 1xx or 2xx: the client does not know whether the buyer has the lead.
var unknownBodies = []answerRow{
	{"202", answers("202 Accepted", `{"lead_id":"b1"}`), market.BuyerPostResult{Verdict: unknown, Status: 202}},
	{"204", dialtest.WriteAndClose("HTTP/1.1 204 No Content\r\n\r\n"), market.BuyerPostResult{Verdict: unknown, Status: 204}},
	{"garbage in a 200", answers("200 OK", `OK thanks`), market.BuyerPostResult{Verdict: unknown, Status: 200, Fault: market.FaultUnreadable}},
	{"an array", answers("200 OK", `[{"lead_id":"b1"}]`), market.BuyerPostResult{Verdict: unknown, Status: 200, Fault: market.FaultUnreadable}},
	{"null", answers("200 OK", `null`), market.BuyerPostResult{Verdict: unknown, Status: 200, Fault: market.FaultUnreadable}},
	{"a duplicate member", answers("200 OK", `{"lead_id":"b1","lead_id":"b2"}`), market.BuyerPostResult{Verdict: unknown, Status: 200, Fault: market.FaultUnreadable}},
	{"bytes after the object", answers("200 OK", `{"lead_id":"b1"}{}`), market.BuyerPostResult{Verdict: unknown, Status: 200, Fault: market.FaultUnreadable}},
	{"names are case-sensitive", answers("201 Created", `{"Error":"no","LEAD_ID":"b1","id":"b2"}`), market.BuyerPostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}},
	{"no body", answers("201 Created", ``), market.BuyerPostResult{Verdict: unknown, Status: 201, Fault: market.FaultUnreadable}},
	{"101", dialtest.WriteAndHang("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n"), market.BuyerPostResult{Verdict: unknown, Status: 101}},
}

// Answers with 3xx or 4xx are refusals. The status decides whether they are final.
var refusedStatuses = []answerRow{
	{"301", answers("301 Moved Permanently", ``, "Location: /elsewhere"), market.BuyerPostResult{Verdict: refused, Status: 301}},
	{"307", answers("307 Temporary Redirect", `{}`, "Location: https://example.com/"), market.BuyerPostResult{Verdict: refused, Status: 307}},
	{"400", answers("400 Bad Request", `{"error":"bad_request"}`), market.BuyerPostResult{Verdict: refused, Status: 400, Code: "bad_request", Final: true}},
	{"400 in HTML", answers("400 Bad Request", `<html>`), market.BuyerPostResult{Verdict: refused, Status: 400, Final: true}},
	{"401", answers("401 Unauthorized", `{"error":"unauthorized"}`), market.BuyerPostResult{Verdict: refused, Status: 401, Code: "unauthorized"}},
	{"403", answers("403 Forbidden", `{"error":"insufficient_scope"}`), market.BuyerPostResult{Verdict: refused, Status: 403, Code: "insufficient_scope"}},
	{"404", answers("404 Not Found", ``), market.BuyerPostResult{Verdict: refused, Status: 404, Final: true}},
	{"409", answers("409 Conflict", `{"error":"already_sold"}`), market.BuyerPostResult{Verdict: refused, Status: 409, Code: "already_sold"}},
	{"410", answers("410 Gone", `{"error":"bid_expired"}`), market.BuyerPostResult{Verdict: refused, Status: 410, Code: "bid_expired"}},
	{"422", answers("422 Unprocessable Content", `{"error":"invalid_payload"}`), market.BuyerPostResult{Verdict: refused, Status: 422, Code: "invalid_payload", Final: true}},
	{"422 of a reused key", answers("422 Unprocessable Content", `{"error":"idempotency_key_reused"}`), market.BuyerPostResult{Verdict: refused, Status: 422, Code: "idempotency_key_reused"}},
	{"425", answers("425 Too Early", ``), market.BuyerPostResult{Verdict: refused, Status: 425}},
	{"a 403 with a page over the limit", answers("403 Forbidden", big), market.BuyerPostResult{Verdict: refused, Status: 403, Fault: market.FaultTooLarge}},
	{"a 422 cut short", dialtest.WriteAndClose(dialtest.FormatResponse("422 Unprocessable Content", `{"error":"x"}`)[:90]), market.BuyerPostResult{Verdict: refused, Status: 422, Fault: market.FaultBroken}},
}

// After 408, 5xx and invalid statuses, the client does not know whether the buyer has the lead.
var unknownStatuses = []answerRow{
	{"408", answers("408 Request Timeout", ``), market.BuyerPostResult{Verdict: unknown, Status: 408}},
	{"500", answers("500 Internal Server Error", `{"error":"internal"}`), market.BuyerPostResult{Verdict: unknown, Status: 500, Code: "internal"}},
	{"503", answers("503 Service Unavailable", ``), market.BuyerPostResult{Verdict: unknown, Status: 503}},
	{"an invalid status", answers("799 What", `{}`), market.BuyerPostResult{Verdict: unknown, Status: 799}},
}

// After a 429 the buyer does not have the lead, and names the time of the next attempt.
var busyAnswers = []answerRow{
	{"429 in seconds", answers("429 Too Many Requests", `{"error":"rate_limited"}`, "Retry-After: 3"), market.BuyerPostResult{Verdict: market.VerdictBusy, Status: 429, Code: "rate_limited", RetryAfter: 3 * time.Second}},
	{"429 with a date", answers("429 Too Many Requests", ``, "Retry-After: Mon, 02 Mar 2026 12:00:07 GMT"), market.BuyerPostResult{Verdict: market.VerdictBusy, Status: 429, RetryAfter: 7 * time.Second}},
	{"429 without Retry-After", answers("429 Too Many Requests", ``), market.BuyerPostResult{Verdict: market.VerdictBusy, Status: 429, RetryAfter: time.Second}},
}

// The tables are the contract's section "What a buyer's answer means" for posts.
func TestPostAnswers(t *testing.T) {
	for _, row := range slices.Concat(acceptedAnswers, refusedBodies, unknownBodies, refusedStatuses, unknownStatuses, busyAnswers) {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, row.reply)
			client := newClient(t, func(o *Options) { o.Now = func() time.Time { return noon } })
			got := client.Post(postTo(buyer.post(), longTimeout))
			if got != row.want {
				t.Errorf("\n got %+v\nwant %+v", got, row.want)
			}
			if n := len(buyer.Requests()); n != 1 {
				t.Errorf("the buyer received %d requests, want 1", n)
			}
		})
	}
}

// The table lists connection failures after a post or a ping was sent.
func TestBrokenAnswers(t *testing.T) {
	const shortTimeout = 3 * time.Second // the request, and a part of the answer, must arrive before it
	whole := dialtest.FormatResponse("200 OK", `{"lead_id":"b1"}`)
	rows := []struct {
		name   string
		reply  reply
		status int
		fault  market.OutboundRequestFault
		within time.Duration
	}{
		{"closed before the answer", dialtest.WriteAndClose(""), 0, market.FaultBroken, longTimeout},
		{"reset before the answer", dialtest.WriteAndReset(""), 0, market.FaultBroken, longTimeout},
		{"reset inside the head", dialtest.WriteAndReset(whole[:30]), 0, market.FaultBroken, longTimeout},
		{"reset after half an answer", dialtest.WriteAndReset(whole[:len(whole)-8]), 200, market.FaultBroken, longTimeout},
		{"truncated body", dialtest.WriteAndClose(whole[:len(whole)-1]), 200, market.FaultBroken, longTimeout},
		{"truncated chunk", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"), 200, market.FaultBroken, longTimeout},
		{"truncated without a length", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\n\r\n{\"lead_id\":"), 200, market.FaultUnreadable, longTimeout},
		{"not HTTP", dialtest.WriteAndClose("220 mail.example ESMTP\r\n\r\n"), 0, market.FaultUnreadable, longTimeout},
		{"Content-Length before chunks", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), 200, market.FaultUnreadable, longTimeout},
		{"chunks before Content-Length", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-LENGTH : 12\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), 200, market.FaultUnreadable, longTimeout},
		{"both, after an interim answer", dialtest.WriteAndClose("HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 2\n\n2\r\n{}\r\n0\r\n\r\n"), 200, market.FaultUnreadable, longTimeout},
		{"both, byte by byte", dialtest.WriteSlowlyForever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n"), 200, market.FaultUnreadable, longTimeout},
		{"not HTTP, connection stays open", dialtest.WriteAndHang("220 mail.example ESMTP\r\n"), 0, market.FaultUnreadable, longTimeout},
		{"a body over the limit", answers("200 OK", big), 200, market.FaultTooLarge, longTimeout},
		{"a chunk over the limit", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"), 200, market.FaultTooLarge, longTimeout},
		{"a head over the limit", answers("200 OK", `{}`, "X-Pad: "+strings.Repeat("x", dial.HeadLimit)), 0, market.FaultTooLarge, longTimeout},
		{"interim answers without end", dialtest.WriteAndClose(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50)), 0, market.FaultUnreadable, longTimeout},
		{"hangs", dialtest.WriteAndHang(""), 0, market.FaultTimeout, shortTimeout},
		{"hangs in the head", dialtest.WriteAndHang(whole[:30]), 0, market.FaultTimeout, shortTimeout},
		{"hangs in the body", dialtest.WriteAndHang(whole[:len(whole)-1]), 200, market.FaultTimeout, shortTimeout},
		{"trickles past the deadline", dialtest.WriteSlowlyForever("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("x", 9999)), 0, market.FaultTimeout, shortTimeout},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			buyer, client := listen(t, row.reply), newClient(t, nil)
			got := withoutElapsed(client.Post(postTo(buyer.post(), row.within)))
			want := market.BuyerPostResult{Verdict: unknown, Status: row.status, Fault: row.fault}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
			// The endpoint may record the request after the client's deadline.
			for giveUp := time.Now().Add(longTimeout); len(buyer.Requests()) == 0 && time.Now().Before(giveUp); {
				time.Sleep(time.Millisecond)
			}
			if n := len(buyer.Requests()); n != 1 {
				t.Errorf("the buyer received %d requests, want 1", n)
			}
			outcome := map[market.OutboundRequestFault]string{market.FaultTimeout: "timeout ", market.FaultBroken: "error "}[row.fault]
			if ping, want := verdict(client.Ping(pingTo(buyer.ping(), row.within))), cmp.Or(outcome, "invalid ")+row.fault.String(); ping != want {
				t.Errorf("ping: got %s, want %s", ping, want)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	rows := []struct {
		header string
		want   time.Duration
	}{
		{"0", 0},
		{"120", 2 * time.Minute},
		{"99999999999", maxRetry},
		{"18446744073709551616", defaultRetry},
		{"-1", defaultRetry},
		{"1.5", defaultRetry},
		{"soon", defaultRetry},
		{"", defaultRetry},
		{"Mon, 02 Mar 2026 12:01:00 GMT", time.Minute},
		{"Monday, 02-Mar-26 12:01:00 GMT", time.Minute},
		{"Mon, 02 Mar 2026 11:00:00 GMT", 0},
		{"Tue, 02 Mar 2027 12:00:00 GMT", maxRetry},
	}
	for _, row := range rows {
		if got := parseRetryAfterOrOneSecond([]byte(row.header), noon); got != row.want {
			t.Errorf("Retry-After: %s: got %v, want %v", row.header, got, row.want)
		}
	}
}
