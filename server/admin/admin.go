// Package admin is the HTTP API for operators, and serves the dashboard. Its address is not
// public by default.
//
// RunningExchange is the port to the process: the exchange implements it. The package handles
// routes, roles, sessions and forms of answers. It changes the exchange only through
// engine.OperatorActions and the port. Only a test lead goes through Engine.Ingest.
package admin

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/api"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/keys/token"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/audit"
	"pingpost/server/admin/clusterapi"
	"pingpost/server/admin/oidc"
	"pingpost/server/admin/payload"
	"pingpost/server/admin/person"
	"pingpost/server/admin/savedreports"
	"pingpost/server/admin/team"
	"pingpost/server/apidocs"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
	"pingpost/server/metrics"
	"pingpost/server/ratelimit"
	"pingpost/server/request"
)

// RunningExchange is the part of the process that the admin API uses beside the engine. The exchange
// implements it.
type RunningExchange interface {
	// Ready returns nil once the exchange decides about requests; otherwise the reason.
	Ready() error
	// AcceptsRequests returns nil once the exchange accepts requests, to decide about them or to forward
	// them to the leader; otherwise the reason.
	AcceptsRequests() error
	// EngineWhileReady returns nil until the log has been replayed, and again once the exchange begins to stop.
	EngineWhileReady() *engine.Engine
	// StateHash returns the hash of the state and its position in the log.
	StateHash() (seq, hash uint64, err error)
	// ActiveConfigurationJSON returns the active configuration as canonical JSON without secrets, or
	// nil before there is one.
	ActiveConfigurationJSON() []byte
	// ApplyConfiguration applies a document, in YAML or JSON, and returns the changes. It also
	// returns initial values (such as balances and secrets) that have no effect, because other
	// values exist already. With dry it only lists all this. by is the operator.
	ApplyConfiguration(document []byte, variables map[string]string, dry bool, by string) (ConfigurationChangeResult, error)
	// Seal encrypts a secret that the exchange presents to others.
	Seal(name, value string) []byte
	// RevealSecret decrypts such a secret. It returns false if there is no secret of this name.
	RevealSecret(name string) (value string, ok bool)
	// Unseal decrypts a value that Seal encrypted under the same name.
	Unseal(name string, sealed []byte) (value string, ok bool)
	// CredentialHasher returns the issuer that hashes the secrets that clients present. It is not nil
	// once there is an engine.
	CredentialHasher() *token.Issuer
	// Instructions returns the publisher of posting instructions. It is not nil once there is an
	// engine.
	PostingInstructions() *instructions.Publisher
	// IsSandbox reports whether the exchange is a sandbox, which accepts static tokens.
	IsSandbox() bool
	// Alerts returns the service that runs the alerts. It returns nil until the log has been replayed.
	Alerts() alerts.Service
	// SavedReports returns the service that sends saved reports, or nil like Alerts.
	SavedReports() savedreports.Service
	// Cluster returns the controller of the cluster, also while the exchange starts or stops.
	Cluster() clusterapi.Controller
	ConfigEntryStore
	ConfigDriftStore
	SuppressionListStore
	BackupController
	LeadAndAuctionExplainer
	StatementSource
	Eraser
	person.Store
	ReportProvider
	ProcessStatusReporter
}

// Admin is the HTTP server for operators. All paths require authentication, except /healthz, /readyz,
// /leader, /metrics, the dashboard's files and the documentation. The login, the identity provider's sign-in,
// and showing or accepting an invitation do not require it either.
type Admin struct {
	exchange     RunningExchange
	meter        *metrics.Meter
	password     [32]byte                      // hash of the configured password
	locked       bool                          // no password is configured
	authFailures *ratelimit.AuthFailureLimiter // for wrong credentials
	applying     sync.Mutex                    // one configuration is applied at a time
	rotating     sync.Mutex                    // one webhook secret rotates at a time
	uploading    singleUploadGuard             // one suppression list is uploaded at a time
	sessions     *sessionStore                 // sessions and login limits
	team         *team.Handlers
	publicURL    string         // of the console, without a slash at its end; empty: not configured
	requireTOTP  bool           // accounts need a second factor
	provider     *oidc.Provider // nil: no sign-in at an identity provider
	oidc         *oidc.Handlers // nil with provider
	answer       fasthttp.RequestHandler
	http         *fasthttp.Server
	tls          *tls.Config // nil: plain HTTP
	logger       *slog.Logger

	watch        *metrics.MeterHistory
	overviews    *overviewCache
	live         *liveOverviewFeed
	node         *Cluster        // nil: this node always decides
	files        map[string]bool // paths of files that need no authentication
	audit        *audit.Recorder
	recorded     map[string]bool // operations that the audit log records, as "PUT /admin/v1/config"
	persons      *person.Handlers
	searches     chan struct{} // has an element for each running search
	benches      chan struct{} // has an element for each running test lead
	alerts       alerts.API
	savedReports savedreports.API
	cluster      clusterapi.API
	deprecations apidocs.Deprecations // nil: no operation is deprecated
}

// HTTP returns the underlying HTTP server. Tests use it to serve a connection without a
// listener.
func (a *Admin) HTTP() *fasthttp.Server { return a.http }

// SetTLS sets the TLS configuration of the admin address; nil means plain HTTP. Call it before
// Serve.
func (a *Admin) SetTLS(config *tls.Config) { a.tls = config }

// SetMaxHeader sets how many bytes the request line and headers of a request may have. Call it
// before Serve.
func (a *Admin) SetMaxHeader(bytes int) { a.http.ReadBufferSize = bytes }

// SetTrustedProxies sets the networks of trusted proxies. Behind these, the client's address comes
// from X-Forwarded-For.
func (a *Admin) SetTrustedProxies(proxies []netip.Prefix) { a.authFailures.SetTrustedProxies(proxies) }

const (
	maxDocument = 4 << 20  // bytes of a configuration
	maxBody     = 64 << 10 // bytes of any other body
	maxLogin    = 8 << 10  // bytes of a login, which needs no authentication

	maxOperators     = 1000 // open connections
	maxOperatorsFrom = 50   // open connections per client network
	maxGuesses       = 10   // wrong credentials per second and client network that get 401 instead of 429
)

// New returns an admin server, which serves once Serve is called. password is the configured
// one; if it is empty, it never matches.
func New(operator RunningExchange, meter *metrics.Meter, password string, logger *slog.Logger) *Admin {
	a := &Admin{exchange: operator, meter: meter, password: sha256.Sum256([]byte(password)), locked: password == "", authFailures: ratelimit.NewAuthFailureLimiter(maxGuesses, meter, logger), logger: logger}
	a.sessions, a.audit, a.recorded = newSessionStore(a.secondFactorEvenIfUnconfirmed), a.newAuditRecorder(), make(map[string]bool)
	a.persons = person.NewHandlers(operator)
	a.team = team.NewHandlers(teamServer{a})
	a.deprecations = apidocs.LoadDeprecations(api.AdminYAML())
	a.watch = metrics.NewMeterHistory(meter)
	a.overviews = &overviewCache{admin: a, watch: a.watch}
	a.searches, a.benches = make(chan struct{}, maxSearches), make(chan struct{}, maxBench)
	a.alerts = alerts.API{Service: operator.Alerts, CallerName: callerNameOf, IsAdmin: isCallerAdmin}
	a.savedReports = savedreports.API{Service: operator.SavedReports, CallerName: callerNameOf}
	a.cluster = clusterapi.API{Controller: operator.Cluster}
	a.live = newLiveOverviewFeed(a.overviews.overviewEventOrNil)
	routes := router.New()
	routes.RedirectTrailingSlash, routes.RedirectFixedPath, routes.HandleOPTIONS = false, false, false
	routes.NotFound = a.authenticateAndRequireRole(market.RoleViewer, "", func(ctx *fasthttp.RequestCtx) { a.sendError(ctx, httperror.NotFound) })
	routes.MethodNotAllowed = a.authenticateAndRequireRole(market.RoleViewer, "", a.sendMethodNotAllowed)
	routes.GET("/healthz", a.rejectUnknownParameters("GET", "/healthz", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("ok\n") }))
	routes.GET("/readyz", a.rejectUnknownParameters("GET", "/readyz", a.serveReady))
	routes.GET(pathLeader, a.rejectUnknownParameters("GET", pathLeader, a.serveLeader))
	routes.GET("/metrics", a.rejectUnknownParameters("GET", "/metrics", a.serveMetrics))
	a.addFileRoutes(routes)
	routes.POST(pathSession, a.withDeprecationHeaders("POST", pathSession, a.withBodyAndRecheckedCaller(maxLogin, httperror.BodyTooLarge, a.rejectUnknownParameters("POST", pathSession, a.withAnswerOrErrorSent(a.login)))))
	a.addUnauthenticatedTeamRoutes(routes)
	a.addAuthenticatedRoutes(routes)
	a.answer = a.withMetricsAndPanicRecovery(a.rejectAmbiguousRequests(routes.Handler, routes.NotFound))
	a.http = &fasthttp.Server{
		Handler: a.answer, ErrorHandler: a.answerUnreadableRequest, ExpectHandler: a.decideExpectContinue, ConnState: connection.UpdateHeadScannerOnStateChange, Name: "pingpost", NoDefaultServerHeader: true, Logger: log.New(io.Discard, "", 0),
		MaxRequestBodySize: maxDocument, ReadTimeout: operatorRequestTimeout, IdleTimeout: operatorRequestTimeout, WriteTimeout: 2 * operatorRequestTimeout,
		SecureErrorLogMessage: true, CloseOnShutdown: true, Concurrency: 2 * maxOperators,

		// Bodies are read after authentication.
		StreamRequestBody: true, DisablePreParseMultipartForm: true,
	}
	return a
}

// sendMethodNotAllowed answers 405 and lists the path's methods in the header Allow. It removes
// OPTIONS, which the router adds but no path accepts.
func (a *Admin) sendMethodNotAllowed(ctx *fasthttp.RequestCtx) {
	methods := strings.Split(string(ctx.Response.Header.Peek("Allow")), ", ")
	methods = slices.DeleteFunc(methods, func(method string) bool { return method == fasthttp.MethodOptions })
	a.sendError(ctx, httperror.MethodNotAllowed)
	ctx.Response.Header.Set("Allow", strings.Join(methods, ", "))
}

// withMetricsAndPanicRecovery returns a handler that calls h and counts its answer. It answers a panic
// of h with a 500, and closes the connection if h did not read the request's body.
func (a *Admin) withMetricsAndPanicRecovery(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		begun := time.Now()
		defer func() {
			if cause := recover(); cause != nil {
				httperror.LogPanicAndWriteInternal(ctx, httperror.NewRequestID(), cause, a.logger)
			}
			if ctx.UserValue(bodyExpected) == true {
				return // the handler runs again after the body
			}
			if ctx.Request.Header.ContentLength() != 0 && ctx.RequestBodyStream() != nil && ctx.UserValue(payload.BodyRead) == nil {
				ctx.SetConnectionClose() // the unread body would be parsed as the next request
			}
			connection.CloseUnauthenticatedOn4xxIfMoreThanHalfFull(ctx)
			if a.node != nil && httperror.MaySendAgain(ctx) {
				return // no client gets this answer: the request is sent to the leader
			}
			a.meter.CountAnswerAndLogError(metrics.RouteAdmin, &ctx.Response, int64(time.Since(begun)))
		}()
		h(ctx)
		payload.CompressLongJSON(ctx)
	}
}

// rejectAmbiguousRequests returns a handler that rejects requests that a proxy could interpret
// differently, and calls next for all others. It treats unusual paths as not found.
func (a *Admin) rejectAmbiguousRequests(next, notFound fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		switch bad := request.CheckHead(ctx); {
		case bad.Status != 0:
			a.sendError(ctx, bad)
			ctx.SetConnectionClose()
		case !request.IsNormalizedPath(ctx):
			notFound(ctx)
		default:
			next(ctx)
		}
	}
}

// answerUnreadableRequest answers a request that the HTTP library could not read: too large, malformed
// or too slow.
func (a *Admin) answerUnreadableRequest(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		a.sendError(ctx, httperror.BodyTooLarge)
		return
	}
	bad := request.ErrorOfFailedRead(err)
	a.sendError(ctx, bad)
	connection.CloseAfterAnswerDrainUnlessTimeout(ctx, bad)
}

// Serve accepts connections from the listener and answers requests until Shutdown.
func (a *Admin) Serve(listener net.Listener) error {
	c := connection.NewLimiter(listener, maxOperators, maxOperatorsFrom, httperror.NewRequestID, a.meter.ReportAcceptError)
	c.TLS, c.IsProxy, c.OnFailedHandshake = a.tls, a.authFailures.IsTrustedProxy, a.meter.CountFailedHandshake
	go a.watch.Run()
	return a.http.Serve(c)
}

// Shutdown stops the server. It first ends uploads and event streams, because these could
// otherwise run on for hours. Then it waits for the other requests in flight.
func (a *Admin) Shutdown() error {
	a.uploading.abortAndRejectUploads()
	a.watch.Stop()
	a.live.close()
	return a.http.Shutdown()
}

func (a *Admin) serveReady(ctx *fasthttp.RequestCtx) {
	if err := a.exchange.AcceptsRequests(); err != nil {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
		ctx.SetBodyString(err.Error() + "\n")
		return
	}
	ctx.SetBodyString("ready\n")
}

func (a *Admin) serveMetrics(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain; version=0.0.4; charset=utf-8")
	a.meter.WriteMetrics(ctx)
}
