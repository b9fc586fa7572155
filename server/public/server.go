package public

import (
	"cmp"
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/clock"
	"pingpost/internal/trace"
	"pingpost/keys/token"
	"pingpost/server/apidocs"
	"pingpost/server/connection"
	"pingpost/server/forward"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
	"pingpost/server/metrics"
	"pingpost/server/ratelimit"
)

// Options configure a Server.
type Options struct {
	Clock  *clock.Clock
	Logger *slog.Logger
	Meter  *metrics.Meter
	Traces *trace.Tracer // nil: no traces

	Tokens        *token.Issuer
	TokenLifetime time.Duration // of an access token
	Sandbox       bool          // accepts static bearer tokens and makes up leads
	Name          string        // of the exchange, on the page at /
	Ready         func() error  // reports why the exchange accepts no requests; nil: it always does

	Instructions *instructions.Publisher // nil: there are no links to posting instructions
	Forward      *forward.Forwarder      // sends requests to the leader of a cluster; nil: this node always decides

	Body, Header                           int         // greatest sizes of a body and of a head, in bytes
	Connections, MaxConnsPerIP             int         // open connections, in total and per client network
	Documents                              int         // per second and client network; 0: 50
	AuthFailures                           int         // wrong credentials per second and client network that get 401 instead of 429; 0: 100
	TLS                                    *tls.Config // nil: plain HTTP
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration
}

// Server is the HTTP server of the public address, for suppliers and buyers.
type Server struct {
	opt                   Options
	engine                atomic.Pointer[engine.Engine] // nil: this node does not decide now
	clock                 *clock.Clock
	http                  *fasthttp.Server
	suppliers             atomic.Pointer[map[market.PermanentNumber]*market.Supplier]
	buyers                atomic.Pointer[map[market.PermanentNumber]*market.Buyer]
	ingestLimits          tokenBucketsByOwner
	pingLimits            tokenBucketsByOwner // shared by /v1/ping and /api/v1/ping
	byteLimits            tokenBucketsByOwner // body bytes of all requests of suppliers
	postLimits            tokenBucketsByOwner
	seedLimits            tokenBucketsByOwner
	lookupAndReportLimits leadLookupAndReportLimits
	seeds                 largeAnswerLimiter
	batches               largeAnswerLimiter // answers to batches of reports
	runs                  atomic.Int32       // current runs of seeded leads
	draining              atomic.Bool
	limiter               atomic.Pointer[connection.Limiter]
	authFailures          *ratelimit.AuthFailureLimiter
	documents             *ratelimit.TokenBuckets[netip.Prefix] // per client network
	deprecations          apidocs.Deprecations                  // nil: no operation is deprecated
}

// New returns a server. It decides about requests once SetEngine, SetCatalog and Serve were called.
func New(opt Options) *Server {
	opt.Connections = connection.LimitConnectionsToOpenFiles(opt.Connections, connection.MaxOpenFiles(), opt.Logger)
	opt.Meter.SetLogger(opt.Logger)
	s := &Server{opt: opt, clock: opt.Clock, authFailures: ratelimit.NewAuthFailureLimiter(cmp.Or(opt.AuthFailures, defaultAuthFailures), opt.Meter, opt.Logger), deprecations: apidocs.LoadDeprecations(api.PublicYAML())}
	s.documents = ratelimit.NewNetworkBuckets(cmp.Or(opt.Documents, defaultDocuments))
	s.http = &fasthttp.Server{
		Handler:               s.handleRequest,
		ErrorHandler:          s.answerUnreadableRequest,
		ExpectHandler:         s.decideExpectContinue,
		ConnState:             connection.UpdateHeadScannerOnStateChange,
		Name:                  "pingpost",
		Concurrency:           2 * opt.Connections, // connection.Limiter sets the limit; a worker may outlive its connection
		ReadBufferSize:        opt.Header,
		MaxRequestBodySize:    opt.Body,
		ReadTimeout:           opt.ReadTimeout,
		WriteTimeout:          opt.WriteTimeout,
		IdleTimeout:           opt.IdleTimeout,
		NoDefaultContentType:  true,
		NoDefaultServerHeader: true,
		SecureErrorLogMessage: true,
		CloseOnShutdown:       true,
		Logger:                log.New(io.Discard, "", 0), // the library's own lines may quote a request

		// request.ReadBody reads bodies. After an error in the body the library would
		// discard the head, which the answer depends on.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
	}
	if opt.Forward != nil {
		s.http.Handler = s.serveDocumentsAndForward(opt.Forward.ServeClients(forward.Public, opt.Body, s.handleRequest))
		s.http.ExpectHandler = opt.Forward.ServeExpect(forward.Public, s.decideExpectContinue)
	}
	s.suppliers.Store(&map[market.PermanentNumber]*market.Supplier{})
	s.buyers.Store(&map[market.PermanentNumber]*market.Buyer{})
	return s
}

// SetEngine sets the engine that decides about the following requests. A request uses one engine until
// its answer. nil: this node does not decide, and requests that need a decision get a 503.
func (s *Server) SetEngine(e *engine.Engine) { s.engine.Store(e) }

// DecideRequest answers a request that another node has forwarded. It needs the remote address of the
// client in ctx.
func (s *Server) DecideRequest(ctx *fasthttp.RequestCtx) { s.handleRequest(ctx) }

// newRequestID returns a new random request id with the time of the exchange's clock. It needs no
// engine, because a node that does not decide answers too.
func (s *Server) newRequestID() market.RequestID { return httperror.NewRequestIDAt(s.clock.Now()) }

// SetCatalog sets the suppliers and buyers that may send requests, with their rate limits. Call
// it whenever a new configuration becomes active.
func (s *Server) SetCatalog(catalog *market.Catalog) {
	byRef := make(map[market.PermanentNumber]*market.Supplier, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		byRef[supplier.Ref] = supplier
	}
	buyers := make(map[market.PermanentNumber]*market.Buyer, len(catalog.Buyers))
	for _, buyer := range catalog.Buyers {
		buyers[buyer.Ref] = buyer
	}
	now := time.Unix(0, s.clock.Now())
	ingestRate := func(supplier *market.Supplier) int { return supplier.IngestRate }
	s.ingestLimits.setSupplierRates(catalog, now, ingestRate)
	s.postLimits.setSupplierRates(catalog, now, ingestRate)
	s.seedLimits.setSupplierRates(catalog, now, ingestRate)
	s.pingLimits.setSupplierRates(catalog, now, func(supplier *market.Supplier) int { return supplier.PingRate })
	s.byteLimits.setSupplierRates(catalog, now, func(supplier *market.Supplier) int { return supplier.ByteRate })
	s.lookupAndReportLimits.limitOwnersInCatalog(catalog, now)
	s.suppliers.Store(&byRef)
	s.buyers.Store(&buyers)
}

// Serve accepts connections from the listener and answers requests until Shutdown. If Shutdown
// was called before, it closes the listener and returns.
func (s *Server) Serve(listener net.Listener) error {
	c := connection.NewLimiter(listener, s.opt.Connections, s.opt.MaxConnsPerIP, s.newRequestID, s.opt.Meter.ReportAcceptError)
	c.TLS, c.IsProxy, c.OnFailedHandshake = s.opt.TLS, s.authFailures.IsTrustedProxy, s.opt.Meter.CountFailedHandshake
	s.limiter.Store(c)
	if s.draining.Load() {
		c.MarkAccepting()
		return listener.Close()
	}
	return s.http.Serve(c)
}

// defaultAuthFailures is the default number of wrong credentials per second from one network
// that are answered 401; others get a 429. It equals the default rate of leads. So a supplier
// with a revoked key gets 401 and learns the reason.
const defaultAuthFailures = 100

// SetTrustedProxies sets the networks of trusted proxies. Call it whenever a new configuration becomes
// active.
func (s *Server) SetTrustedProxies(proxies []netip.Prefix) { s.authFailures.SetTrustedProxies(proxies) }

// closeSilentEvery is how often a shutdown closes connections that have sent no byte, because
// new ones may just have been accepted.
const closeSilentEvery = 50 * time.Millisecond

// Shutdown stops accepting, waits for the requests in flight, and closes idle connections.
// The library does not treat a connection as idle that has never sent a byte, and would
// wait for it until the read timeout. It also does not know a listener that Serve has just
// received, and would leave it open. Shutdown handles both.
func (s *Server) Shutdown() error {
	s.draining.Store(true)
	if c := s.limiter.Load(); c != nil {
		<-c.Accepting
	}
	ended := make(chan error, 1)
	go func() { ended <- s.http.Shutdown() }()
	tick := time.NewTicker(closeSilentEvery)
	defer tick.Stop()
	for {
		if c := s.limiter.Load(); c != nil {
			c.CloseConnsAwaitingFirstRequest()
		}
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}
