package oidc

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/server/metrics"
	"pingpost/server/request"
)

// The paths of the sign-in. The provider's registered redirect address ends with PathCallback.
const (
	PathStart    = "/admin/v1/session/oidc"
	PathCallback = "/admin/v1/session/oidc/callback"

	cookieName = "__Host-pingpost-oidc" // followed by the port of the address

	// maxConcurrent limits the sign-ins that wait for the provider at the same time.
	maxConcurrent = 50
)

// Handlers serve the browser's part of the sign-in. They redirect only to the provider and to fixed
// paths of the dashboard, so no parameter can lead the browser elsewhere.
type Handlers struct {
	provider *Provider
	sessions AdminServer
	logger   *slog.Logger
	failures metrics.LogThrottle
	running  chan struct{}
}

// AdminServer is the part of the admin server that the sign-in uses.
type AdminServer interface {
	// StartSessionWithoutAccount starts a session for the person and adds its cookie to the answer.
	// After an error there is no session.
	StartSessionWithoutAccount(ctx *fasthttp.RequestCtx, person Identity) error
	// CountSignInAsFailedOrReject counts a callback as a failed sign-in of the client's network. The
	// caller undoes it unless the sign-in fails. ok is false if it has answered, because the network
	// has sent too many.
	CountSignInAsFailedOrReject(ctx *fasthttp.RequestCtx) (undo func(), ok bool)
	// RecordFailedSignIn records a failed sign-in in the audit log.
	RecordFailedSignIn(ctx *fasthttp.RequestCtx)
	// UsesTLS reports whether the admin address uses TLS.
	UsesTLS() bool
	// PublicURL returns the configured address of the console, without a slash at its end, or "".
	PublicURL() string
}

// NewHandlers returns handlers for the provider.
func NewHandlers(provider *Provider, sessions AdminServer, logger *slog.Logger) *Handlers {
	return &Handlers{provider: provider, sessions: sessions, logger: logger, running: make(chan struct{}, maxConcurrent)}
}

// RedirectToProvider sends the browser to the provider.
func (h *Handlers) RedirectToProvider(ctx *fasthttp.RequestCtx) {
	release, ok := h.acquireSignInSlot()
	if !ok {
		h.redirectToSignInPageWithReason(ctx, ErrUnreachable)
		return
	}
	defer release()
	location, cookie, err := h.provider.Begin(h.callbackURL(ctx))
	if err != nil {
		h.redirectToSignInPageWithReason(ctx, err)
		return
	}
	setOrDeleteFlowCookie(ctx, cookie, int(flowLife.Seconds()))
	redirect(ctx, location)
}

// HandleCallback serves the callback. It ends in a session and the dashboard, or on the sign-in page
// with the reason. A network with too many failures gets a 429. It counts the callback as failed before
// it asks the provider, so strangers cannot cause more requests to the provider than the limit on
// failed sign-ins allows.
func (h *Handlers) HandleCallback(ctx *fasthttp.RequestCtx) {
	undo, ok := h.sessions.CountSignInAsFailedOrReject(ctx)
	if !ok {
		return
	}
	release, ok := h.acquireSignInSlot()
	if !ok {
		undo()
		h.redirectToSignInPageWithReason(ctx, ErrUnreachable)
		return
	}
	defer release()
	err := h.startSessionOfCallback(ctx)
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrDenied) || errors.Is(err, ErrNoRole) {
		h.sessions.RecordFailedSignIn(ctx)
	} else {
		undo()
	}
	if err == nil {
		redirect(ctx, "/")
		return
	}
	if count, due := h.failures.CountEvent(); due {
		h.logger.Warn("sign-ins at the identity provider failed", "count", count, "last_error", err)
	}
	h.redirectToSignInPageWithReason(ctx, err)
}

// startSessionOfCallback starts the session of the person who returns from the provider, or returns the error.
func (h *Handlers) startSessionOfCallback(ctx *fasthttp.RequestCtx) error {
	cookie := string(ctx.Request.Header.Cookie(request.CookieNameWithPort(&ctx.Request.Header, cookieName)))
	query, err := url.ParseQuery(string(ctx.URI().QueryString()))
	if err != nil {
		return ErrInvalid
	}
	// Not ctx: the server reuses it after the answer, while the HTTP client may still read it. The
	// client has a timeout.
	person, err := h.provider.Finish(context.Background(), cookie, query)
	if err != nil {
		return err
	}
	setOrDeleteFlowCookie(ctx, "", 0)
	return h.sessions.StartSessionWithoutAccount(ctx, person)
}

func (h *Handlers) acquireSignInSlot() (release func(), ok bool) {
	select {
	case h.running <- struct{}{}:
		return func() { <-h.running }, true
	default:
		return nil, false
	}
}

// reasons are the words of failures on the sign-in page's address.
var reasons = []struct {
	err  error
	word string
}{{ErrUnreachable, "unreachable"}, {ErrDenied, "denied"}, {ErrNoRole, "no_role"}, {ErrInvalid, "invalid"}}

func (h *Handlers) redirectToSignInPageWithReason(ctx *fasthttp.RequestCtx, err error) {
	word := "invalid"
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			word = r.word
			break
		}
	}
	setOrDeleteFlowCookie(ctx, "", 0)
	redirect(ctx, "/#/sign-in?oidc="+word)
}

// callbackURL returns the callback's address: at the configured address of the console, or else at the
// host that the browser uses. Browsers keep the
// cookies of the sign-in only over TLS, or over plain HTTP to their own machine. So the address is
// https everywhere else, also behind a proxy that ends TLS. The provider accepts registered addresses
// only, so another Host header cannot lead the code elsewhere.
func (h *Handlers) callbackURL(ctx *fasthttp.RequestCtx) string {
	if address := h.sessions.PublicURL(); address != "" {
		return address + PathCallback
	}
	host := string(request.TargetHost(&ctx.Request.Header))
	scheme := "https"
	if !h.sessions.UsesTLS() && isLoopback(host) {
		scheme = "http"
	}
	return scheme + "://" + host + PathCallback
}

func isLoopback(host string) bool {
	u, err := url.Parse("http://" + host)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && address.IsLoopback()
}

// redirect answers 303. No cache keeps the answer, because its cookies are one person's.
func redirect(ctx *fasthttp.RequestCtx, location string) {
	ctx.Response.Header.Set("Location", location)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetStatusCode(fasthttp.StatusSeeOther)
}

// setOrDeleteFlowCookie sets the cookie of the sign-in, or deletes it if maxAgeSeconds is 0. SameSite is Lax,
// because the provider's page leads the browser to the callback.
func setOrDeleteFlowCookie(ctx *fasthttp.RequestCtx, value string, maxAgeSeconds int) {
	var cookie fasthttp.Cookie
	cookie.SetKey(request.CookieNameWithPort(&ctx.Request.Header, cookieName))
	cookie.SetValue(value)
	cookie.SetPath("/")
	cookie.SetSecure(true)
	cookie.SetHTTPOnly(true)
	cookie.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	if maxAgeSeconds > 0 {
		cookie.SetMaxAge(maxAgeSeconds)
	} else {
		cookie.SetExpire(fasthttp.CookieExpireDelete)
	}
	ctx.Response.Header.SetCookie(&cookie)
}
