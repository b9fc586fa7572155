package httperror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

// Each error of the engine has its status, and the answer contains no detail except its
// code.
func TestEngineErrorStatuses(t *testing.T) {
	for _, row := range []struct {
		err    error
		status int
		code   string
	}{
		{engine.ErrNotLeader, 503, "unavailable"},
		{fmt.Errorf("wrapped: %w", engine.ErrNotLeader), 503, "unavailable"},
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
		WriteEngineErrorOrUnavailable(&ctx, NewRequestID(), row.err)
		var body struct {
			Error, Message, Reason string
			RequestID              string `json:"request_id"`
			Fields                 []struct{ Field, Code, Expected string }
		}
		if err := json.Unmarshal(ctx.Response.Body(), &body); err != nil || ctx.Response.StatusCode() != row.status || body.Error != row.code {
			t.Errorf("%v: %d %s, %v", row.err, ctx.Response.StatusCode(), ctx.Response.Body(), err)
		}
		if id := string(ctx.Response.Header.Peek(HeaderRequestID)); id != body.RequestID || id == "" {
			t.Errorf("request id is %q in the header, %q in the body", id, body.RequestID)
		}
		if (row.code == "post_rejected") != (body.Reason == "duplicate") || len(ctx.Response.Header.Peek(HeaderReplayed)) > 0 {
			t.Errorf("%s", &ctx.Response)
		}
		if MaySendAgain(&ctx) != errors.Is(row.err, engine.ErrNotLeader) {
			t.Errorf("%v: may be sent again: %t", row.err, MaySendAgain(&ctx))
		}
		retryable := row.status == 429 || row.status > 500
		if retryable != (len(ctx.Response.Header.Peek("Retry-After")) > 0) || strings.Contains(body.Message, "secret") {
			t.Errorf("%s", &ctx.Response)
		}
	}
}

// The answer for a buyer that was not reached says whether the delivery continues or has stopped. After
// the last attempt an operator decides.
func TestBuyerErrorSaysWhetherDeliveryContinues(t *testing.T) {
	for _, code := range []engine.RefusalCode{engine.BuyerUnavailable, engine.BuyerTimeout} {
		for stopped, want := range map[bool]string{false: "the exchange continues the delivery", true: "an operator decides about the delivery"} {
			var ctx fasthttp.RequestCtx
			WriteEngineErrorOrUnavailable(&ctx, NewRequestID(), &engine.Refusal{Code: code, DeliveryStopped: stopped})
			if body := string(ctx.Response.Body()); !strings.Contains(body, want) || strings.Contains(body, "reached") || string(ctx.Response.Header.Peek("Retry-After")) != "1" {
				t.Errorf("%s, stopped %t: %s", code, stopped, &ctx.Response)
			}
		}
	}
}

// A replayed refusal has the id of the first request, in the header and in the body.
func TestReplayedRefusalNamesFirstRequest(t *testing.T) {
	first, now := NewRequestID(), NewRequestID()
	for _, replayed := range []bool{false, true} {
		var ctx fasthttp.RequestCtx
		WriteEngineErrorOrUnavailable(&ctx, now, &engine.Refusal{Code: engine.PostRejected, Reason: market.ReasonPostRejected, Request: first, Replayed: replayed})
		want := fmt.Sprintf(`"request_id":%q,"reason":"post_rejected"}`, first.String())
		if got := ctx.Response.Body(); !bytes.HasSuffix(got, []byte(want)) || string(ctx.Response.Header.Peek(HeaderRequestID)) != first.String() {
			t.Errorf("%s", &ctx.Response)
		}
		if got := string(ctx.Response.Header.Peek(HeaderReplayed)); got == "true" != replayed {
			t.Errorf("%s is %q, want replayed %v", HeaderReplayed, got, replayed)
		}
	}
}
