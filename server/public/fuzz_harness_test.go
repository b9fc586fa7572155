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

// everything is an exchange with something behind each path: a sandbox whose two
// campaigns keep what they do not know and take a person any number of times.
const everything = `suppliers:
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

// echo is a buyer that takes everything, and shows what it was told last.
type echo struct {
	mu         sync.Mutex
	ping, post []byte
}

func (b *echo) Ping(req *market.PingRequest) market.PingResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ping = bytes.Clone(req.Body)
	return market.PingResult{Bid: market.Bid{Amount: 5_000_000, Token: "t"}, Status: 200}
}

func (b *echo) Post(req *market.PostRequest) market.PostResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.post = bytes.Clone(req.Body)
	return market.PostResult{Verdict: market.VerdictAccepted, Status: 201}
}

// heardOf gives what the buyer was told since it was last asked.
func (b *echo) heardOf() (ping, post []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ping, post, b.ping, b.post = b.ping, b.post, nil, nil
	return ping, post
}

// fuzzed is an exchange to throw things at. It is renewed now and then, for its
// memory grows with what it takes.
type fuzzed struct {
	*Server
	t              testing.TB
	admin          *admin.Admin
	log            *servertest.MemoryLog
	buyer          *echo
	asked          int
	seller, report string // tokens
}

// renewed is how many requests a fuzzed exchange lives for.
const renewed = 3000

// fresh gives an exchange that is good for one more request.
func (x *fuzzed) fresh(t testing.TB) *fuzzed {
	if x.Server == nil || x.asked >= renewed {
		x.close()
		x.start(t)
	}
	x.asked++
	x.clock.AdvanceTo(x.clock.Now() + int64(time.Second)) // buckets are full again
	return x
}

func (x *fuzzed) close() {
	if x.Server != nil {
		x.engine.Close()
	}
}

func (x *fuzzed) start(t testing.TB) {
	t.Helper()
	log := new(servertest.MemoryLog)
	*x = fuzzed{t: t, log: log, buyer: new(echo)}
	x.Server = serverOf(t, everything, engine.Options{State: state.New(), Log: log, History: log, Buyers: x.buyer}, func(o *Options) {
		o.TokenLifetime, o.Sandbox = 1000*time.Hour, true
	})
	x.admin = admin.New(stubOperator{x.engine, x.opt.Tokens, true}, metrics.NewMeter(func(string, error) {}), servertest.Password, slog.New(slog.DiscardHandler))
	x.seller, x.report = x.tokenOf("acme"), x.tokenOf("blue")
}

func (x *fuzzed) tokenOf(client string) string {
	return (&testServer{Server: x.Server, t: x.t}).token(client, "secret-of-"+client, "")
}

// request makes one without a connection; header lines come in pairs.
func (x *fuzzed) request(path string, body []byte, lines ...string) *fasthttp.RequestCtx {
	ctx := requestOf("POST", path, body, lines...)
	x.handleRequest(ctx)
	servertest.CheckContextContract(x.t, ctx, body)
	return ctx
}

// operate makes one as an operator.
func (x *fuzzed) operate(method, path string, body []byte) *fasthttp.RequestCtx {
	ctx := requestOf(method, path, body, "Authorization", "Basic b3A6dGhlLXBhc3N3b3Jk")
	x.admin.HTTP().Handler(ctx)
	return ctx
}

// requestOf returns a request without a connection; header lines come in pairs.
func requestOf(method, path string, body []byte, lines ...string) *fasthttp.RequestCtx {
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

// answerOf is a body that may have to be read from a stream.
func answerOf(ctx *fasthttp.RequestCtx) []byte {
	if stream := ctx.Response.BodyStream(); stream != nil {
		text, _ := io.ReadAll(stream)
		_ = ctx.Response.CloseBodyStream()
		return text
	}
	return ctx.Response.Body()
}
