package ceiling

import (
	"net"
	"sync"
	"time"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/wal"
)

// AuctionOptions are the options of an Auction. Limits are those of the exchange.
type AuctionOptions struct {
	Buyers  []string      // addresses; every auction asks all of them
	Timeout time.Duration // for bids
	Log     *wal.Log      // each auction is committed to it; nil: none
	Entry   int           // bytes committed for an auction
}

// Auction is the ceiling of auctions. It decodes a ping into a struct, sends it to every
// buyer at once, decodes their bids and answers with the best. It applies no rules. With a
// log, it commits a record of a given size for each auction.
//
// A ballot is the workspace of one auction. Each goroutine writes to its own seat, and the
// handler waits for all of them before it returns the ballot to the pool. No goroutine
// outlives the wait, because each ping ends by the deadline.
type Auction struct {
	buyers  []*fasthttp.HostClient
	timeout time.Duration
	log     *wal.Log // nil: no record
	entry   int
	http    *fasthttp.Server
	ballots sync.Pool // *ballot
}

type ballot struct {
	ping     Ping
	seats    []seat
	asked    sync.WaitGroup
	deadline time.Time
	record   record
}

// seat is the ping to one buyer and its answer.
type seat struct {
	buyer    *fasthttp.HostClient
	request  fasthttp.Request
	response fasthttp.Response
	answer   Answer
	bids     bool
}

// NewAuction returns a server for Serve.
func NewAuction(opt *AuctionOptions) *Auction {
	a := &Auction{timeout: opt.Timeout, log: opt.Log, entry: opt.Entry}
	for _, addr := range opt.Buyers {
		a.buyers = append(a.buyers, newBuyerClient(addr))
	}
	a.ballots.New = func() any { return a.newBallot() }
	a.http = newHTTPServer(a.handle)
	return a
}

func (a *Auction) newBallot() *ballot {
	b := &ballot{seats: make([]seat, len(a.buyers)), record: newRecord(a.entry)}
	for i, buyer := range a.buyers {
		s := &b.seats[i]
		s.buyer = buyer
		s.request.Header.SetMethod(fasthttp.MethodPost)
		s.request.Header.SetContentType("application/json")
		s.request.SetRequestURI("http://" + buyer.Addr + "/v1/ping")
	}
	return b
}

// Serve answers on the listener until Shutdown.
func (a *Auction) Serve(listener net.Listener) error { return a.http.Serve(listener) }

// Shutdown waits for open requests and closes the connections to the buyers.
func (a *Auction) Shutdown() error {
	err := a.http.Shutdown()
	for _, buyer := range a.buyers {
		buyer.CloseIdleConnections()
	}
	return err
}

func (a *Auction) handle(ctx *fasthttp.RequestCtx) {
	b := a.ballots.Get().(*ballot)
	defer a.ballots.Put(b)
	b.ping = Ping{}
	body := ctx.Request.Body()
	if err := json.Unmarshal(body, &b.ping); err != nil || !b.ping.complete() {
		ctx.Error("not a ping", fasthttp.StatusBadRequest)
		return
	}
	b.deadline = time.Now().Add(a.timeout)
	b.ask(ctx.Request.Header.Peek("Idempotency-Key"), body)
	if a.log != nil {
		if err := b.record.commit(a.log); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusServiceUnavailable)
			return
		}
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBody(b.appendAnswer(ctx.Response.Body()[:0]))
}

// ask sends the ping to every buyer and waits for all. The last ping runs on the caller's
// goroutine, which is idle otherwise.
func (b *ballot) ask(key, body []byte) {
	last := len(b.seats) - 1
	for i := range b.seats {
		s := &b.seats[i]
		s.request.Header.SetBytesV("Idempotency-Key", key)
		s.request.SetBodyRaw(body)
		if i < last {
			b.asked.Go(func() { s.ask(b.deadline) })
		} else {
			s.ask(b.deadline)
		}
	}
	b.asked.Wait()
}

// ask sends the ping. Without an answer in time, the seat has no bid.
func (s *seat) ask(deadline time.Time) {
	s.bids, s.answer = false, Answer{}
	if s.buyer.DoDeadline(&s.request, &s.response, deadline) != nil || s.response.StatusCode() != fasthttp.StatusOK {
		return
	}
	s.bids = json.Unmarshal(s.response.Body(), &s.answer) == nil && s.answer.Bid != nil
}

// These limits are the exchange's defaults.
const (
	maxBody, maxHeader = 64 << 10, 16 << 10
	maxConns           = 10_000 // to a server, and to each buyer
	ioTimeout          = 10 * time.Second
	idleTimeout        = time.Minute
)

// newHTTPServer returns a server without optional features that cost time.
func newHTTPServer(handle fasthttp.RequestHandler) *fasthttp.Server {
	return &fasthttp.Server{
		Handler: handle, Concurrency: maxConns, ReadBufferSize: maxHeader, MaxRequestBodySize: maxBody,
		ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, IdleTimeout: idleTimeout,
		NoDefaultContentType: true, NoDefaultServerHeader: true, CloseOnShutdown: true,
		DisablePreParseMultipartForm: true,
	}
}

// newBuyerClient returns a client that keeps its connections to a buyer.
func newBuyerClient(addr string) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: addr, MaxConns: maxConns, ReadBufferSize: maxHeader, MaxIdleConnDuration: idleTimeout,
		ConnPoolStrategy: fasthttp.LIFO, NoDefaultUserAgentHeader: true,
	}
}
