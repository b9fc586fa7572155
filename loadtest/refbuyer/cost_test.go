package refbuyer

import (
	"strconv"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// aPing is as long as a ping of an exchange.
const aPing = `{"auction_id":"auc_01HF7YAT00X8QZ5R3M9K2C4D6E","vertical":"auto_insurance","sub_vertical":"standard","state":"CA","zip3":"941",` +
	`"source":"paid_search","tcpa_consent":true,"consent_cert_url":"https://cert.example/0123456789abcdef","ai_quality_score":0.82,` +
	`"expires_at":"2099-01-01T00:00:00Z","currently_insured":true,"vehicle_count":2,"driver_age_band":"25-34"}`

// handler is a buyer without a socket, with a prepared ping for different keys.
func handler(tb testing.TB, options Options) (b *Buyer, next func(path string) *fasthttp.RequestCtx) {
	tb.Helper()
	b, err := New(options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	var request fasthttp.Request
	request.Header.SetMethod("POST")
	request.Header.SetContentType("application/json")
	request.SetBodyString(aPing)
	r := new(fasthttp.RequestCtx)
	r.Init(&request, nil, nil)
	n, key := 0, make([]byte, 0, 32)
	return b, func(path string) *fasthttp.RequestCtx {
		n++
		key = strconv.AppendInt(append(key[:0], "ping_"...), int64(n), 10)
		r.Response.Reset()
		r.Request.SetRequestURI(path)
		r.Request.Header.SetBytesV("Idempotency-Key", key)
		return r
	}
}

// TestPingAllocates limits the allocations, because the buyer runs on the same machine as
// the benchmarks.
func TestPingAllocates(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector pools forget on purpose")
	}
	for name, options := range map[string]Options{
		"a bid":          {Bid: Fixed(12_500_000)},
		"no bid":         {},
		"with all rates": {Bid: Fixed(1), NoBidRate: 0.5, PingsASecond: maxRate, Token: "t", ExpireEarly: 1, FailRate: 0.5},
		"with a delay":   {Bid: Fixed(1), Latency: Uniform{time.Nanosecond, time.Nanosecond}},
	} {
		options.RememberPings = 64
		b, next := handler(t, options)
		ping := func() {
			r := next("/v1/ping")
			r.Request.Header.Set("Authorization", "Bearer t")
			if b.handle(r); r.Response.StatusCode() != 200 {
				t.Fatalf("%d %s", r.Response.StatusCode(), r.Response.Body())
			}
		}
		for range 100 {
			ping()
		}
		if n := testing.AllocsPerRun(1000, ping); n > 0 {
			t.Errorf("%s: %v allocations a ping, want none", name, n)
		}
	}
}
