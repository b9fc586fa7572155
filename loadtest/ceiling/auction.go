package ceiling

import (
	"sync"
	"time"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/wal"
)

// auctionCeiling is the ceiling of auctions. It decodes a ping into a struct, sends it to every
// buyer at once, decodes their bids and answers with the best. It applies no rules. With a
// log, it commits a record of a given size for each auction.
//
// A ballot is the workspace of one auction. Each goroutine writes to its own seat, and the
// handler waits for all of them before it returns the ballot to the pool. No goroutine
// outlives the wait, because each ping ends by the deadline.
type auctionCeiling struct {
	buyers  []*fasthttp.HostClient
	timeout time.Duration
	log     *wal.Log // nil: no record
	entry   int
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

// NewAuction returns the ceiling of auctions. log may be nil.
func NewAuction(log *wal.Log, opt *Options) *Server {
	a := &auctionCeiling{timeout: opt.Timeout, log: log, entry: opt.Entry}
	s := newServer(a.handle, opt.Buyers)
	a.buyers = s.buyers
	a.ballots.New = func() any { return a.newBallot() }
	return s
}

func (a *auctionCeiling) newBallot() *ballot {
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

func (a *auctionCeiling) handle(ctx *fasthttp.RequestCtx) {
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
