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
	"pingpost/server/instructions"
	"pingpost/server/metrics"
)

// discardLog is a log that commits each entry at once and does not store it.
type discardLog struct{ seq uint64 }

func (l *discardLog) Append(_ []byte, w engine.CommitWaiter) error {
	l.seq++
	w.Committed(l.seq, int64(l.seq))
	return nil
}

const supplierKey = "key-of-the-tests"

const ingestConfig = `suppliers:
  - {id: sup, api_key: ` + supplierKey + `, ingest_rate: 1000000}
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

// newServer returns a server of ingestConfig over a discardLog.
func newServer(t testing.TB) *Server {
	t.Helper()
	return newServerWith(t, ingestConfig, engine.Options{State: state.New(), Log: new(discardLog)})
}

// newServerWith returns a server of a configuration document over an engine with these
// ports. It adds the other ports and the credentials of the document.
func newServerWith(t testing.TB, document string, ports engine.Options, changes ...func(*Options)) *Server {
	t.Helper()
	source := must.Value(config.Parse("exchange.yaml", []byte(document), nil))(t)
	built := must.Value(source.Compile())(t)
	clock, mint := clock.New(), token.New([32]byte{7})
	meter := metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) })
	ports.Clock, ports.Sealer, ports.Observer = clock, sealtest.New(), meter
	ports.Entropy = func(p []byte) { _, _ = rand.Read(p) }
	catalog := engine.CatalogUpdate{Catalog: built.Catalog, Document: "document"}
	for i := range built.Initial.Credentials {
		catalog.Initial.Credentials = append(catalog.Initial.Credentials, newCredential(mint, &built.Initial.Credentials[i]))
	}
	options := Options{
		Clock: clock, Logger: slog.New(slog.DiscardHandler), Meter: meter, Tokens: mint, TokenLifetime: time.Hour,
		Body: 64 << 10, Header: 16 << 10, Connections: 100, MaxConnsPerIP: 100,
	}
	e := engine.New(ports)
	options.Instructions = instructions.NewPublisher(stubOperator{engine: e}, &instructions.ExchangeSettings{FormatDuration: time.Duration.String}, [32]byte{8})
	must.Succeed(t, e.Configure(catalog))
	for _, change := range changes {
		change(&options)
	}
	s := New(options)
	s.SetEngine(e)
	s.SetCatalog(built.Catalog)
	return s
}

// reusedRequest is a request context that is reused, as by the HTTP library.
type reusedRequest struct {
	ctx  fasthttp.RequestCtx
	body bytes.Reader
}

func (c *reusedRequest) send(s *Server, head, body string) {
	c.ctx.Request.Reset()
	c.ctx.Response.Reset()
	if err := c.ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(head))); err != nil {
		panic(err)
	}
	c.resend(s, body)
}

func (c *reusedRequest) resend(s *Server, body string) {
	c.body.Reset([]byte(body))
	c.ctx.Request.SetBodyStream(&c.body, len(body))
	s.handleRequest(&c.ctx)
}

func ingestHead(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n",
		supplierKey, strings.Join(lines, ""), len(body))
}

func ingestBody(number int) string {
	return fmt.Sprintf(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"Lee","phone":"+1212%07d",`+
		`"email":"ann.lee.%d@example.com","state":"CA","zip":"94105","homeowner":true,"rooms":4}`, 2000000+number, number)
}

// fillBucket waits until the supplier's rate bucket is full enough for the whole test.
func fillBucket(t testing.TB, s *Server) {
	t.Helper()
	supplier := (*s.suppliers.Load())[market.PermanentNumber(1)]
	bucket := (*s.ingestLimits.buckets.Load())[supplier.Ref]
	for bucket.limiter.Tokens() < 100_000 {
		bucket.limiter.SetBurst(bucket.limiter.Burst())
	}
}
