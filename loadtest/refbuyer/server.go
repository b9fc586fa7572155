package refbuyer

import (
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/loadtest/refserver"
)

// maxConns is the number of concurrent connections.
const maxConns = 16 << 10

// Buyer is a listening reference buyer.
type Buyer struct {
	options Options
	chance  chance
	now     func() time.Time
	limiter *rate.Limiter // of pings; unused without a limit
	access  *access
	book    *pingBook
	ledger  *ledger

	scratchPool sync.Pool // of *scratch

	*refserver.Server
}

// New creates a buyer and opens its address. It answers once Serve is called.
func New(options Options) (*Buyer, error) {
	options.complete()
	if err := options.check(); err != nil {
		return nil, err
	}
	b := &Buyer{
		options: options,
		chance:  chance(options.Seed),
		now:     time.Now,
		limiter: rate.NewLimiter(rate.Limit(options.PingsASecond), options.PingsASecond),
		access:  &access{static: []byte(options.Token), early: options.ExpireEarly, chance: chance(options.Seed), known: map[string]*accessToken{}},
		book:    newPingBook(options.RememberPings),
		ledger:  newLedger(options.Remember),
	}
	if options.OAuth != (OAuth{}) {
		b.access.lifetime = options.TokenLifetime
	}
	b.scratchPool.New = func() any { return new(scratch) }
	var err error
	b.Server, err = refserver.New(options.Listen, &fasthttp.Server{
		Name: "refbuyer", Handler: b.handle, ErrorHandler: b.refuseUnparsable, Concurrency: maxConns,
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Leads returns the remembered accepted leads, oldest first.
func (b *Buyer) Leads() []Lead { return b.ledger.acceptedLeads() }

// delayAnswer holds an answer back for a random time.
func (b *Buyer) delayAnswer(latency Latency, key []byte, attempt int) {
	if latency != nil {
		b.Pause(latency.At(b.chance.draw(drawDelay, key, attempt)))
	}
}
