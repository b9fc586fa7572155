package server

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/token"
	"pingpost/server/trace"
)

// Options of a Server.
type Options struct {
	Engine *engine.Engine
	Clock  *Clock
	Logger *slog.Logger
	Meter  *Meter
	Traces *trace.Tracer // nil: nothing is traced

	Tokens        *token.Mint
	TokenLifetime time.Duration // of an access token
	Sandbox       bool          // static bearer tokens are good here, and leads are made up

	Body, Header                           int // bytes
	Connections, MaxConnsPerIP             int
	AuthFailures                           int         // wrong credentials a second from one address that are told so; 0: 100
	TLS                                    *tls.Config // nil: plain HTTP is spoken
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration
}

// Server answers suppliers and buyers.
type Server struct {
	opt          Options
	engine       *engine.Engine
	clock        *Clock
	http         *fasthttp.Server
	suppliers    atomic.Pointer[map[market.Ref]*market.Supplier]
	buyers       atomic.Pointer[map[market.Ref]*market.Buyer]
	ingestLimits limits
	pingLimits   limits // of /v1/ping and /api/v1/ping together
	postLimits   limits
	seedLimits   limits
	leadLimits   leadLimits
	seeds        answersOut
	batches      answersOut   // of reports
	runs         atomic.Int32 // of seeded leads through campaigns
	draining     atomic.Bool
	crowd        atomic.Pointer[crowd]
	wary         *wary
	endings      endings // nil: nothing is deprecated
}

// New returns a server that takes no requests until SetCatalog and Serve.
func New(opt Options) *Server {
	opt.Connections = affordable(opt.Connections, descriptors(), opt.Logger)
	opt.Meter.tellTo(opt.Logger)
	s := &Server{opt: opt, engine: opt.Engine, clock: opt.Clock, wary: newWary(cmp.Or(opt.AuthFailures, usualAuthFailures), opt.Meter, opt.Logger), endings: endingsIn(api.YAML())}
	s.http = &fasthttp.Server{
		Handler:               s.handle,
		ErrorHandler:          s.unreadable,
		ExpectHandler:         s.expected,
		Name:                  "pingpost",
		Concurrency:           2 * opt.Connections, // crowd counts; a worker may outlast its connection
		ReadBufferSize:        opt.Header,
		MaxRequestBodySize:    opt.Body,
		ReadTimeout:           opt.ReadTimeout,
		WriteTimeout:          opt.WriteTimeout,
		IdleTimeout:           opt.IdleTimeout,
		NoDefaultContentType:  true,
		NoDefaultServerHeader: true,
		SecureErrorLogMessage: true,
		CloseOnShutdown:       true,
		Logger:                discard{},

		// Bodies are read by readBody: the library would forget the head of a
		// request whose body is wrong, and so whom and what to answer.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
	}
	s.suppliers.Store(&map[market.Ref]*market.Supplier{})
	s.buyers.Store(&map[market.Ref]*market.Buyer{})
	return s
}

// SetCatalog makes a catalog's suppliers and buyers known. It is called each
// time one has come into force.
func (s *Server) SetCatalog(catalog *market.Catalog) {
	byRef := make(map[market.Ref]*market.Supplier, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		byRef[supplier.Ref] = supplier
	}
	buyers := make(map[market.Ref]*market.Buyer, len(catalog.Buyers))
	for _, buyer := range catalog.Buyers {
		buyers[buyer.Ref] = buyer
	}
	now := time.Unix(0, s.clock.Now())
	ingestRate := func(supplier *market.Supplier) int { return supplier.IngestRate }
	s.ingestLimits.configure(catalog, now, ingestRate)
	s.postLimits.configure(catalog, now, ingestRate)
	s.seedLimits.configure(catalog, now, ingestRate)
	s.pingLimits.configure(catalog, now, func(supplier *market.Supplier) int { return supplier.PingRate })
	s.leadLimits.configure(catalog, now)
	s.suppliers.Store(&byRef)
	s.buyers.Store(&buyers)
}

// Serve answers on the listener until Shutdown, which may have come before it.
func (s *Server) Serve(listener net.Listener) error {
	c := newCrowd(listener, s.opt.Connections, s.opt.MaxConnsPerIP, s.engine.NewRequestID, s.opt.Meter.notAccepted)
	c.seal, c.trusts, c.unsealed = s.opt.TLS, s.wary.trusts, s.opt.Meter.unsealed.Inc
	s.crowd.Store(c)
	if s.draining.Load() {
		c.begun()
		return listener.Close()
	}
	return s.http.Serve(c)
}

// usualAuthFailures is as many as a supplier may send leads: one whose key has just
// been revoked is told that, and not to come again later.
const usualAuthFailures = 100

// Trust says which proxies are believed about whom they bring. It is called each
// time a configuration has come into force.
func (s *Server) Trust(proxies []netip.Prefix) { s.wary.trust(proxies) }

// hushEvery is how often a server that stops looks for silent connections: one may
// have been on its way in.
const hushEvery = 50 * time.Millisecond

// Shutdown ends accepting, waits for the requests in flight, and closes idle
// connections. The library does not count those as idle that have never sent
// anything, and would wait for them as long as for a request to arrive. And of a
// listener that Serve has only just been given it knows nothing: it would leave that
// one open, and Serve with it.
func (s *Server) Shutdown() error {
	s.draining.Store(true)
	if c := s.crowd.Load(); c != nil {
		<-c.accepts
	}
	ended := make(chan error, 1)
	go func() { ended <- s.http.Shutdown() }()
	tick := time.NewTicker(hushEvery)
	defer tick.Stop()
	for {
		if c := s.crowd.Load(); c != nil {
			c.hush()
		}
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}

// discard keeps the HTTP library's own log lines out: they may quote a request.
type discard struct{}

func (discard) Printf(string, ...any) {}
