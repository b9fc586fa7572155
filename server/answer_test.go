package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// TestFaults: every error of the engine has its status, and none tells the
// caller more than its code.
func TestFaults(t *testing.T) {
	for _, row := range []struct {
		err    error
		status int
		code   string
	}{
		{&engine.Refusal{Code: engine.InvalidPayload, Fields: []market.FieldError{{Field: `a"b`, Code: "c", Expected: "d"}}}, 422, "invalid_payload"},
		{&engine.Refusal{Code: engine.KeyReused}, 422, "idempotency_key_reused"},
		{&engine.Refusal{Code: engine.Forbidden}, 403, "forbidden"},
		{&engine.Refusal{Code: engine.AuctionExists}, 409, "auction_exists"},
		{&engine.Refusal{Code: engine.AlreadySold}, 409, "already_sold"},
		{&engine.Refusal{Code: engine.BidExpired}, 410, "bid_expired"},
		{&engine.Refusal{Code: engine.InvalidBidToken}, 422, "invalid_bid_token"},
		{&engine.Refusal{Code: engine.PostRejected, Reason: market.ReasonDuplicate}, 422, "post_rejected"},
		{&engine.Refusal{Code: engine.RateLimited}, 429, "rate_limited"},
		{&engine.Refusal{Code: engine.BuyerUnavailable}, 502, "buyer_unavailable"},
		{&engine.Refusal{Code: engine.BuyerTimeout}, 504, "buyer_timeout"},
		{&engine.Refusal{Code: "new"}, 500, "internal"},
		{engine.ErrUnavailable, 503, "unavailable"},
		{fmt.Errorf("wrapped: %w", engine.ErrUnavailable), 503, "unavailable"},
		{ErrTooLarge, 413, "payload_too_large"},
		{fmt.Errorf("wrapped: %w", ErrTooLarge), 413, "payload_too_large"},
		{errors.New("disk /dev/secret is full"), 503, "unavailable"},
	} {
		var ctx fasthttp.RequestCtx
		failWith(&ctx, newRequestID(), row.err)
		var body struct {
			Error, Message, Reason string
			RequestID              string `json:"request_id"`
			Fields                 []struct{ Field, Code, Expected string }
		}
		if err := json.Unmarshal(ctx.Response.Body(), &body); err != nil || ctx.Response.StatusCode() != row.status || body.Error != row.code {
			t.Errorf("%v: %d %s, %v", row.err, ctx.Response.StatusCode(), ctx.Response.Body(), err)
		}
		if id := string(ctx.Response.Header.Peek(headerRequestID)); id != body.RequestID || id == "" {
			t.Errorf("%q in the header, %q in the body", id, body.RequestID)
		}
		if (row.code == "post_rejected") != (body.Reason == "duplicate") || len(ctx.Response.Header.Peek(headerReplayed)) > 0 {
			t.Errorf("%s", &ctx.Response)
		}
		later := row.status == 429 || row.status > 500
		if later != (len(ctx.Response.Header.Peek("Retry-After")) > 0) || strings.Contains(body.Message, "secret") {
			t.Errorf("%s", &ctx.Response)
		}
	}
}

// TestReplayedRefusal: it names the request that was refused first, in the
// header and in the body.
func TestReplayedRefusal(t *testing.T) {
	first, now := newRequestID(), newRequestID()
	for _, replayed := range []bool{false, true} {
		var ctx fasthttp.RequestCtx
		failWith(&ctx, now, &engine.Refusal{Code: engine.PostRejected, Reason: market.ReasonPostRejected, Request: first, Replayed: replayed})
		want := fmt.Sprintf(`"request_id":%q,"reason":"post_rejected"}`, first.String())
		if got := ctx.Response.Body(); !bytes.HasSuffix(got, []byte(want)) || string(ctx.Response.Header.Peek(headerRequestID)) != first.String() {
			t.Errorf("%s", &ctx.Response)
		}
		if got := string(ctx.Response.Header.Peek(headerReplayed)); got == "true" != replayed {
			t.Errorf("%s: %q, of one that is replayed: %v", headerReplayed, got, replayed)
		}
	}
}

func TestAnswerIsJSON(t *testing.T) {
	currency, _ := market.ParseCurrency("USD")
	for _, a := range []engine.Answer{
		{Accepted: true, Buyer: `b"\`, Campaign: "c\n", Payout: 9_640_000, Currency: currency},
		{Reason: market.ReasonTimeout, Campaign: `"`},
	} {
		var got struct {
			Data struct {
				Status   string
				BuyerID  *string `json:"buyer_id"`
				Campaign string  `json:"campaign_id"`
				Reason   string
				Price    *struct{ Amount json.Number }
			}
		}
		if err := json.Unmarshal(appendAnswer(nil, &a), &got); err != nil {
			t.Fatal(err)
		}
		d := got.Data
		if a.Accepted && (*d.BuyerID != a.Buyer || d.Price.Amount != "9.64" || d.Reason != "") || !a.Accepted && (d.BuyerID != nil || d.Price != nil || d.Reason != "timeout") || d.Campaign != a.Campaign {
			t.Errorf("%+v of %+v", d, a)
		}
	}
}

func TestBasicAuth(t *testing.T) {
	for header, want := range map[string]string{
		"Basic dTpw": "u p", "basic  dTpw ": "u p", "Basic dTo6cDo=": "u :p:", "Basic Og==": " ", "Basic dQ==": "no", "Basic": "no", "": "no", "Bearer dTpw": "no", "Basic ?": "no",
	} {
		got := "no"
		if user, password, ok := basicAuth(header); ok {
			got = user + " " + password
		}
		if got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

func TestIsDry(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "dry=0": false, "dry=false": false, "dry=no": false, "wet=1": false,
		"dry": true, "dry=": true, "dry=1": true, "dry=true": true, "dry=TRUE": true, "dry=please": true,
	} {
		var args fasthttp.Args
		args.Parse(query)
		if got := isDry(&args); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// TestNewKeyBeginsAnew: most beginnings are taken, and the key has another.
func TestNewKeyBeginsAnew(t *testing.T) {
	var live []state.Credential
	for i := range 16 * 16 * 16 * 15 {
		live = append(live, state.Credential{Hint: fmt.Sprintf("key_%04x", i)})
	}
	key := newSecret("key_", live)
	if len(key) != 52 || !strings.HasPrefix(key, "key_f") {
		t.Error(key[:8])
	}
}

// TestMeterHasALabelForAll: whatever the engine may say, there is a counter.
func TestMeterHasALabelForAll(t *testing.T) {
	var told []string
	m := NewMeter(metrics.NewSet(), func(what string, err error) { told = append(told, what+": "+err.Error()) })
	for reason := market.ReasonNoBuyer; reason <= market.ReasonLoop; reason++ {
		m.Decided(nil, nil, &engine.Answer{Reason: reason})
	}
	m.Decided(nil, nil, &engine.Answer{Accepted: true})
	for verdict := market.VerdictAccepted; verdict <= market.VerdictBusy; verdict++ {
		m.Posted("buyer", &market.PostResult{Verdict: verdict})
	}
	m.Fault("what", errors.New("why"))
	for on, status := range map[route]int{routeIngest: 201, routeNone: 777} {
		var answer fasthttp.Response
		answer.SetStatusCode(status)
		m.request(on, &answer, 1e6)
	}
	var text bytes.Buffer
	m.Print(&text)
	for _, want := range []string{
		`pingpost_leads_total{status="UNMATCHED",reason="duplicate"} 1`, `pingpost_leads_total{status="ACCEPTED",reason=""} 1`,
		`pingpost_post_attempts_total{verdict="busy"} 1`, `pingpost_faults_total 1`,
		`pingpost_requests_total{path="/api/v1/ingest",status="201"} 1`, `pingpost_requests_total{path="other",status="other"} 1`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if len(told) != 1 || told[0] != "what: why" {
		t.Errorf("told %v", told)
	}
}

// TestClockDoesNotGoBack: what it tells never falls, and its timer fires.
func TestClockDoesNotGoBack(t *testing.T) {
	c := NewClock()
	last := c.Now()
	for range 1000 {
		now := c.Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
	fired, stop := c.Timer(1)
	<-fired
	if stop() {
		t.Error("stopped after it had fired")
	}
}
