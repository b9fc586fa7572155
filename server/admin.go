package server

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
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
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/token"
)

// Operator is what the admin address steers beside the engine: what belongs to
// the process rather than to the exchange.
type Operator interface {
	// Ready is nil once requests are taken; else it says why they are not.
	Ready() error
	// Engine is nil until the log has been replayed.
	Engine() *engine.Engine
	// Hash is the state's hash, at a position of the log.
	Hash() (seq, hash uint64, err error)
	// Configuration is the one in force: canonical JSON without secrets.
	Configuration() []byte
	// Apply puts a document into force, in YAML or JSON, and says what changed,
	// and which of its values are not applied, since they are first values and
	// others are in force. With dry it only says. By is the operator who wants it.
	Apply(document []byte, dry bool, by string) (changes, unapplied []string, err error)
	// Seal seals a secret that the exchange presents.
	Seal(name, value string) []byte
	// Reveal opens such a secret again; false: there is none of this name.
	Reveal(name string) (value string, ok bool)
	// Tokens hashes the secrets that are presented to the exchange. There is one
	// whenever there is an engine.
	Tokens() *token.Mint
	// Sandbox tells whether the exchange is one, where static tokens are good.
	Sandbox() bool
	Configurer
	Lister
	Archiver
	Explainer
	Bookkeeper
	Eraser
	Reporter
	Overseer
}

// Admin answers operators. Its address is never public by default; all of it
// but /healthz, /readyz and /metrics asks for the password.
type Admin struct {
	operator Operator
	meter    *Meter
	password [32]byte   // hash; of nothing where none is configured
	locked   bool       // no password is configured: nothing that is guarded opens
	wary     *wary      // of those who guess it
	applying sync.Mutex // one configuration is read and judged at a time
	rotating sync.Mutex // one webhook secret at a time
	loading  loading    // one suppression list at a time
	entrance *entrance  // how operators with accounts come in
	http     *fasthttp.Server
	tls      *tls.Config // nil: plain HTTP is spoken
	logger   *slog.Logger

	watch     *watch
	overviews *overviews
	live      *live
	searches  chan struct{} // has a place for each that is under way
	benches   chan struct{}
	endings   endings // nil: nothing is deprecated
}

// OverTLS has the address speak TLS, from Serve on.
func (a *Admin) OverTLS(config *tls.Config) { a.tls = config }

// Trust says which proxies are believed about whom they bring.
func (a *Admin) Trust(proxies []netip.Prefix) { a.wary.trust(proxies) }

const (
	maxDocument = 4 << 20  // bytes of a configuration that is sent
	maxBody     = 64 << 10 // bytes of any other body
	maxLogin    = 8 << 10  // bytes of a login, which strangers send

	maxOperators     = 1000 // connections open at once
	maxOperatorsFrom = 50   // of them from one address
	guesses          = 10   // wrong passwords a second from one address that are told so
)

// NewAdmin returns an admin server.
func NewAdmin(operator Operator, meter *Meter, password string, logger *slog.Logger) *Admin {
	a := &Admin{operator: operator, meter: meter, password: sha256.Sum256([]byte(password)), locked: password == "", wary: newWary(guesses, meter, logger), logger: logger}
	a.entrance = newEntrance()
	a.endings = endingsIn(api.AdminYAML())
	a.watch = newWatch(meter)
	a.overviews = &overviews{admin: a, watch: a.watch}
	a.searches, a.benches = make(chan struct{}, maxSearches), make(chan struct{}, maxBench)
	a.live = newLive(a.overviews.event)
	routes := router.New()
	routes.RedirectTrailingSlash, routes.RedirectFixedPath, routes.HandleOPTIONS = false, false, false
	routes.NotFound = a.guard(market.RoleViewer, func(ctx *fasthttp.RequestCtx) { a.fail(ctx, faultNotFound) })
	routes.MethodNotAllowed = a.guard(market.RoleViewer, a.wrongMethod)
	routes.GET("/healthz", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("ok\n") })
	routes.GET("/readyz", a.ready)
	routes.GET("/metrics", a.metrics)
	a.dashboard(routes)
	routes.POST(pathSession, a.ending("POST", pathSession, a.withBody(maxLogin, faultTooLarge, a.logIn)))
	a.guarded(routes)
	a.http = &fasthttp.Server{
		Handler: a.counted(a.judged(routes.Handler, routes.NotFound)), ErrorHandler: a.unreadable, Name: "pingpost", NoDefaultServerHeader: true, Logger: discard{},
		MaxRequestBodySize: maxDocument, ReadTimeout: slowest, IdleTimeout: slowest, WriteTimeout: 2 * slowest,
		SecureErrorLogMessage: true, CloseOnShutdown: true, Concurrency: 2 * maxOperators,

		// Bodies are read once the password was right.
		StreamRequestBody: true, DisablePreParseMultipartForm: true,
	}
	return a
}

// wrongMethod answers with the methods that the path takes. The router names OPTIONS
// among them, which none does.
func (a *Admin) wrongMethod(ctx *fasthttp.RequestCtx) {
	methods := strings.Split(string(ctx.Response.Header.Peek("Allow")), ", ")
	methods = slices.DeleteFunc(methods, func(method string) bool { return method == fasthttp.MethodOptions })
	a.fail(ctx, faultMethod)
	ctx.Response.Header.Set("Allow", strings.Join(methods, ", "))
}

func (a *Admin) guarded(routes *router.Router) {
	add := func(method, path string, h fasthttp.RequestHandler) {
		a.route(routes, method, path, a.withBody(maxBody, faultTooLarge, h))
	}
	a.accessRoutes(add)
	a.route(routes, "PUT", "/admin/v1/config", a.alone(a.withBody(maxDocument, faultDocument, a.apply)))
	a.itemRoutes(add, func(method, path string, h fasthttp.RequestHandler) {
		a.route(routes, method, path, a.withBody(maxItem, faultEntry, h))
	})
	add("GET", "/admin/v1/suppression", a.lists)
	a.route(routes, "PUT", "/admin/v1/suppression/{id}", a.upload)
	add("GET", "/admin/v1/backup", a.backup)
	add("POST", "/admin/v1/backup", a.backUp)
	add("GET", "/admin/v1/openapi.yaml", a.openapi)
	add("GET", "/admin/v1/hash", a.hash)
	add("GET", "/admin/v1/config", a.config)
	add("GET", "/admin/v1/deliveries", a.deliveries)
	explain := a.explainer()
	add("GET", "/admin/v1/explain", explain)
	add("GET", "/admin/v1/explain/{id}", explain)
	add("GET", "/admin/v1/statement", a.statements())
	add("GET", "/admin/v1/report", a.reports())
	add("POST", "/admin/v1/report/rebuild", a.rebuild)
	add("POST", "/admin/v1/erase", a.erasing())
	add("POST", "/admin/v1/deliveries/{lead}/{how}", a.resolve)
	add("GET", "/admin/v1/returns", a.returns)
	add("POST", "/admin/v1/returns/{lead}", a.decideReturn)
	add("GET", "/admin/v1/suppliers/{id}/keys", a.keys)
	add("POST", "/admin/v1/suppliers/{id}/keys", a.rotate)
	add("DELETE", "/admin/v1/suppliers/{id}/keys/{hint}", a.revoke)
	add("GET", "/admin/v1/buyers/{id}/funds", a.funds)
	add("POST", "/admin/v1/buyers/{id}/funds", a.topUp)
	add("PUT", "/admin/v1/secrets/{name:*}", a.secret)
	for _, what := range []string{"campaigns", "buyers"} {
		add("POST", "/admin/v1/"+what+"/{id}/pause", a.pause(what, true))
		add("POST", "/admin/v1/"+what+"/{id}/resume", a.pause(what, false))
	}
	for what, owner := range map[string]event.NameKind{"suppliers": event.NameSupplier, "buyers": event.NameBuyer} {
		at := "/admin/v1/" + what + "/{id}"
		add("GET", at+"/clients", a.owned(owner, a.clients))
		add("DELETE", at+"/clients/{client}", a.owned(owner, a.revokeClient))
		add("POST", at+"/clients/{client}/secrets", a.owned(owner, a.addSecret))
		add("DELETE", at+"/clients/{client}/secrets/{hint}", a.owned(owner, a.revokeSecret))
		add("GET", at+"/tokens", a.owned(owner, a.inSandbox(a.tokens)))
		add("POST", at+"/tokens", a.owned(owner, a.inSandbox(a.addToken)))
		add("DELETE", at+"/tokens/{token}", a.owned(owner, a.inSandbox(a.revokeToken)))
	}
	a.webhookRoutes(add)
	a.readingRoutes(add)
	add("GET", "/debug/pprof/{name:*}", a.profile)
}

func (a *Admin) counted(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		begun := time.Now()
		defer func() {
			if cause := recover(); cause != nil {
				panicked(ctx, newRequestID(), cause, a.logger)
			}
			if ctx.Request.Header.ContentLength() != 0 && ctx.RequestBodyStream() != nil && ctx.UserValue(bodyRead) == nil {
				ctx.SetConnectionClose() // the next request would be looked for in this one's body
			}
			dismiss(ctx)
			a.meter.request(routeAdmin, &ctx.Response, int64(time.Since(begun)))
		}()
		h(ctx)
	}
}

// judged refuses what could be read in two ways.
func (a *Admin) judged(h, notFound fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		switch bad := judgeHead(&ctx.Request.Header); {
		case bad.status != 0:
			a.fail(ctx, bad)
			ctx.SetConnectionClose()
		case !plainPath(ctx):
			notFound(ctx)
		default:
			h(ctx)
		}
	}
}

// unreadable answers what the HTTP library could not read.
func (a *Admin) unreadable(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		a.fail(ctx, faultTooLarge)
		return
	}
	bad := unread(err)
	a.fail(ctx, bad)
	cutOff(ctx, bad)
}

// Serve answers on the listener until Shutdown.
func (a *Admin) Serve(listener net.Listener) error {
	c := newCrowd(listener, maxOperators, maxOperatorsFrom, newRequestID, a.meter.notAccepted)
	c.seal, c.trusts, c.unsealed = a.tls, a.wary.trusts, a.meter.unsealed.Inc
	go a.watch.run()
	return a.http.Serve(c)
}

// Shutdown ends it, and first those who would listen for ever.
func (a *Admin) Shutdown() error {
	a.loading.end()
	a.watch.end()
	a.live.close()
	return a.http.Shutdown()
}

func (a *Admin) ready(ctx *fasthttp.RequestCtx) {
	if err := a.operator.Ready(); err != nil {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
		ctx.SetBodyString(err.Error() + "\n")
		return
	}
	ctx.SetBodyString("ready\n")
}

func (a *Admin) metrics(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain; version=0.0.4; charset=utf-8")
	a.meter.Print(ctx)
}
