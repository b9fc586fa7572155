package public

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/internal/clock"
	"pingpost/server/metrics"
)

// instant is a log that keeps nothing and makes every entry durable at once.
type instant struct{ seq uint64 }

func (l *instant) Append(_ []byte, w engine.Waiter) error {
	l.seq++
	w.Committed(l.seq, int64(l.seq))
	return nil
}

const key = "key-of-the-tests"

const exchange = `suppliers:
  - {id: sup, api_key: ` + key + `, ingest_rate: 1000000}
buyers:
  - {id: buy, states: [CA, NV]}
campaigns:
  - id: cmp
    method: waterfall
    payout: {share: 0.8}
    caps: [{per: day, count: 100000000}]
    fields: [{name: homeowner, type: boolean}, {name: rooms, type: integer, min: 1}]
    buyers: [{buyer: buy, price: 12.05}]
`

// newServer is a server over an engine over a log in memory.
func newServer(t testing.TB) *Server {
	t.Helper()
	source, err := config.Parse("exchange.yaml", []byte(exchange), nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	clock := clock.New()
	meter := metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) })
	e := engine.New(engine.Options{
		State: state.New(), Log: new(instant), Clock: clock, Sealer: sealtest.New(), Observer: meter,
		Entropy: func(p []byte) { _, _ = rand.Read(p) },
	})
	wanted := engine.Configuration{Catalog: built.Catalog, Document: "document"}
	wanted.Initial.Credentials = []engine.Credential{{
		Kind: event.CredentialAPIKey, Owner: event.ObjectSupplier, ID: "sup", Hash: sha256.Sum256([]byte(key)),
	}}
	if err := e.Configure(wanted); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Engine: e, Clock: clock, Logger: slog.New(slog.DiscardHandler), Meter: meter, Body: 64 << 10, Header: 16 << 10})
	s.SetCatalog(built.Catalog)
	return s
}

// call is a request as the HTTP library hands it over, to be made again and
// again.
type call struct {
	ctx  fasthttp.RequestCtx
	body bytes.Reader
}

func (c *call) make(s *Server, head, body string) {
	c.ctx.Request.Reset()
	c.ctx.Response.Reset()
	if err := c.ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(head))); err != nil {
		panic(err)
	}
	c.again(s, body)
}

func (c *call) again(s *Server, body string) {
	c.body.Reset([]byte(body))
	c.ctx.Request.SetBodyStream(&c.body, len(body))
	s.handle(&c.ctx)
}

func headOf(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n",
		key, strings.Join(lines, ""), len(body))
}

func leadOf(number int) string {
	return fmt.Sprintf(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"Lee","phone":"+1212%07d",`+
		`"email":"ann.lee.%d@example.com","state":"CA","zip":"94105","homeowner":true,"rooms":4}`, 2000000+number, number)
}

// filled waits until a supplier's bucket has tokens to spare.
func filled(t testing.TB, s *Server) {
	t.Helper()
	supplier := (*s.suppliers.Load())[market.Ref(1)]
	bucket := (*s.ingestLimits.buckets.Load())[supplier.Ref]
	for bucket.limiter.Tokens() < 100_000 {
		bucket.limiter.SetBurst(bucket.limiter.Burst())
	}
}
