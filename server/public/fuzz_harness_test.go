package public

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// fuzzConfig is an exchange in which each path finds an object. Its campaigns keep unknown
// members and accept a person any number of times.
const fuzzConfig = `suppliers:
  - id: sup_acme
    api_key: key-of-acme
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: secret-of-acme, scopes: [ping, post]}]
buyers:
  - id: buy_blue
    endpoint: https://blue.example
    ping_rate: 1000000
    funds: {credit: 1000000}
    oauth_clients: [{client_id: blue, client_secret: secret-of-blue, scopes: [webhook]}]
campaigns:
  - id: cmp_auto
    vertical: auto
    method: ping_post
    suppliers: [sup_acme]
    unknown: keep
    duplicates: {window: 0}
    buyers: [{buyer: buy_blue}]
  - id: cmp_now
    method: waterfall
    suppliers: [sup_acme]
    unknown: keep
    duplicates: {window: 0}
    fields: [{name: rooms, to: room_count, type: integer}, {name: nick, type: string, transform: [trim]}]
    buyers: [{buyer: buy_blue, price: 1}]
`

// recordingBuyer is a buyer that accepts everything and records its last ping and post.
type recordingBuyer struct {
	mu         sync.Mutex
	ping, post []byte
}

func (b *recordingBuyer) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ping = bytes.Clone(req.Body)
	return market.BuyerPingResult{Bid: market.Bid{Amount: 5_000_000, Token: "t"}, Status: 200}
}

func (b *recordingBuyer) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.post = bytes.Clone(req.Body)
	return market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201}
}

// takeBodies returns the bodies of the last ping and post, and forgets them.
func (b *recordingBuyer) takeBodies() (ping, post []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ping, post, b.ping, b.post = b.ping, b.post, nil, nil
	return ping, post
}

// fuzzedExchange is an exchange for fuzzing. It is restarted after maxFuzzRequests
// requests, because its memory grows with each accepted request.
type fuzzedExchange struct {
	*Server
	t              testing.TB
	admin          *admin.Admin
	log            *servertest.MemoryLog
	buyer          *recordingBuyer
	requestCount   int
	seller, report string // tokens
}

// maxFuzzRequests is the number of requests before a fuzzedExchange restarts.
const maxFuzzRequests = 3000

// prepareRequest returns the exchange ready for one more request.
func (x *fuzzedExchange) prepareRequest(t testing.TB) *fuzzedExchange {
	if x.Server == nil || x.requestCount >= maxFuzzRequests {
		x.close()
		x.start(t)
	}
	x.requestCount++
	x.clock.AdvanceTo(x.clock.Now() + int64(time.Second)) // buckets are full again
	return x
}

func (x *fuzzedExchange) close() {
	if x.Server != nil {
		x.engine.Load().Close()
	}
}

func (x *fuzzedExchange) start(t testing.TB) {
	t.Helper()
	log := new(servertest.MemoryLog)
	*x = fuzzedExchange{t: t, log: log, buyer: new(recordingBuyer)}
	x.Server = newServerWith(t, fuzzConfig, engine.Options{State: state.New(), Log: log, History: log, Buyers: x.buyer}, func(o *Options) {
		o.TokenLifetime, o.Sandbox = 1000*time.Hour, true
	})
	x.admin = admin.New(stubOperator{x.engine.Load(), x.opt.Tokens, true}, metrics.NewMeter(func(string, error) {}), servertest.Password, slog.New(slog.DiscardHandler))
	x.seller, x.report = x.requestToken("acme"), x.requestToken("blue")
}

func (x *fuzzedExchange) requestToken(client string) string {
	return (&testServer{Server: x.Server, t: x.t}).requestToken(client, "secret-of-"+client, "")
}

// request handles a POST without a connection; headers come in pairs.
func (x *fuzzedExchange) request(path string, body []byte, lines ...string) *fasthttp.RequestCtx {
	ctx := newRequestCtx("POST", path, body, lines...)
	x.handleRequest(ctx)
	servertest.CheckContextContract(x.t, ctx, body)
	return ctx
}

// requestAsOperator handles a request of an operator without a connection.
func (x *fuzzedExchange) requestAsOperator(method, path string, body []byte) *fasthttp.RequestCtx {
	ctx := newRequestCtx(method, path, body, "Authorization", "Basic b3A6dGhlLXBhc3N3b3Jk")
	x.admin.HTTP().Handler(ctx)
	return ctx
}

// newRequestCtx returns a request without a connection; headers come in pairs.
func newRequestCtx(method, path string, body []byte, lines ...string) *fasthttp.RequestCtx {
	ctx := new(fasthttp.RequestCtx)
	ctx.Init(new(fasthttp.Request), nil, nil)
	header := &ctx.Request.Header
	header.SetMethod(method)
	ctx.Request.SetRequestURI(path)
	for i := 0; i+1 < len(lines); i += 2 {
		header.Add(lines[i], lines[i+1])
	}
	header.SetContentLength(len(body))
	ctx.Request.SetBodyStream(bytes.NewReader(body), len(body))
	return ctx
}

// responseBody returns the body of an answer, also if it is a stream.
func responseBody(ctx *fasthttp.RequestCtx) []byte {
	if stream := ctx.Response.BodyStream(); stream != nil {
		text, _ := io.ReadAll(stream)
		_ = ctx.Response.CloseBodyStream()
		return text
	}
	return ctx.Response.Body()
}
