package public

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/internal/clock"
	"pingpost/internal/must"
	"pingpost/keys/token"
	"pingpost/server/metrics"
)

// instant is a log that keeps nothing and makes every entry durable at once.
type instant struct{ seq uint64 }

func (l *instant) Append(_ []byte, w engine.CommitWaiter) error {
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

// newServer returns a server of the document above over a log in memory.
func newServer(t testing.TB) *Server {
	t.Helper()
	return serverOf(t, exchange, engine.Options{State: state.New(), Log: new(instant)})
}

// serverOf returns a server of a configuration document over an engine with these ports. It adds
// the other ports and the credentials of the document.
func serverOf(t testing.TB, document string, ports engine.Options, changes ...func(*Options)) *Server {
	t.Helper()
	source := must.Value(config.Parse("exchange.yaml", []byte(document), nil))(t)
	built := must.Value(source.Compile())(t)
	clock, mint := clock.New(), token.New([32]byte{7})
	meter := metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) })
	ports.Clock, ports.Sealer, ports.Observer = clock, sealtest.New(), meter
	ports.Entropy = func(p []byte) { _, _ = rand.Read(p) }
	wanted := engine.NewCatalog{Catalog: built.Catalog, Document: "document"}
	for i := range built.Initial.Credentials {
		wanted.Initial.Credentials = append(wanted.Initial.Credentials, credentialOf(mint, &built.Initial.Credentials[i]))
	}
	options := Options{
		Engine: engine.New(ports), Clock: clock, Logger: slog.New(slog.DiscardHandler), Meter: meter, Tokens: mint, TokenLifetime: time.Hour,
		Body: 64 << 10, Header: 16 << 10, Connections: 100, MaxConnsPerIP: 100,
	}
	must.Succeed(t, options.Engine.Configure(wanted))
	for _, change := range changes {
		change(&options)
	}
	s := New(options)
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
	s.handleRequest(&c.ctx)
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
	supplier := (*s.suppliers.Load())[market.PermanentNumber(1)]
	bucket := (*s.ingestLimits.buckets.Load())[supplier.Ref]
	for bucket.limiter.Tokens() < 100_000 {
		bucket.limiter.SetBurst(bucket.limiter.Burst())
	}
}
