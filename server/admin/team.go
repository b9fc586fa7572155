package admin

import (
	"errors"
	"strings"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/state"
	"pingpost/keys/token"
	"pingpost/server/admin/oidc"
	"pingpost/server/admin/payload"
	"pingpost/server/admin/team"
	"pingpost/server/clientaddr"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// signInMethod says how the caller of a request is authenticated.
type signInMethod uint8

const (
	byPassword       signInMethod = iota + 1 // an account's password over HTTP Basic
	bySharedPassword                         // admin.password over HTTP Basic
	byAPIToken
	bySession // that a password started
	byOIDC    // a session that the identity provider started
)

// String returns the method's name in answers and records.
func (m signInMethod) String() string {
	return [...]string{"", "password", "shared_password", "api_token", "session", "oidc"}[m]
}

var (
	errBasicWithFactor    = httperror.New(401, errcode.SecondFactorRequired, "The account has a second factor, so its password does not work over HTTP Basic. Use an API token.")
	errEnrollmentRequired = httperror.New(403, errcode.EnrollmentRequired, "This exchange requires a second factor of each account. Turn on yours with POST /admin/v1/users/NAME/totp; until then all other requests are refused.")
)

// enrollmentRoutes are the operations for callers whose account still lacks the required second
// factor.
var enrollmentRoutes = map[string]bool{
	"GET " + pathSession:                       true,
	"DELETE " + pathSession:                    true,
	"POST /admin/v1/users/{name}/totp":         true,
	"POST /admin/v1/users/{name}/totp/confirm": true,
}

// SetPublicURL sets the address under which operators reach the console, without a slash at its end.
// Empty: links begin at the path, and the sign-in uses the host of the request. Call it before Serve.
func (a *Admin) SetPublicURL(address string) { a.publicURL = address }

// SetSignIn sets whether accounts need a second factor, and the identity provider at which operators
// can sign in; nil means none. Call it before Serve.
func (a *Admin) SetSignIn(requireTOTP bool, provider *oidc.Provider) {
	a.requireTOTP, a.provider = requireTOTP, provider
	if provider != nil {
		a.oidc = oidc.NewHandlers(provider, teamServer{a}, a.logger)
	}
}

// addTeamRoutes registers the operations of the team that need authentication: invitations and second
// factors.
func (a *Admin) addTeamRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	for operation, h := range a.team.AuthenticatedOperations() {
		method, path, _ := strings.Cut(operation, " ")
		add(method, path, a.withAnswerOrErrorSent(h))
	}
}

// unauthenticatedTeamOperations returns the operations that need no authentication, by method and path:
// for invited persons, and the sign-in at an identity provider.
func (a *Admin) unauthenticatedTeamOperations() map[string]fasthttp.RequestHandler {
	open := map[string]fasthttp.RequestHandler{
		"GET " + pathMethods:       a.withAnswerOrErrorSent(a.listSignInMethods),
		"GET " + oidc.PathStart:    a.withIdentityProvider((*oidc.Handlers).RedirectToProvider),
		"GET " + oidc.PathCallback: a.withIdentityProvider((*oidc.Handlers).HandleCallback),
	}
	for operation, h := range a.team.UnauthenticatedOperations() {
		open[operation] = a.withAnswerOrErrorSent(h)
	}
	return open
}

// addUnauthenticatedTeamRoutes registers unauthenticatedTeamOperations. All except the callback, to
// which providers add parameters, reject unknown ones.
func (a *Admin) addUnauthenticatedTeamRoutes(routes *router.Router) {
	for operation, h := range a.unauthenticatedTeamOperations() {
		method, path, _ := strings.Cut(operation, " ")
		if path != oidc.PathCallback {
			h = a.rejectUnknownParameters(method, path, h)
		}
		a.addUnauthenticatedRoute(routes, method, path, h)
	}
}

// addUnauthenticatedRoute registers an operation that needs no authentication. Other sites cannot use it to
// change something.
func (a *Admin) addUnauthenticatedRoute(routes *router.Router, method, path string, h fasthttp.RequestHandler) {
	routes.Handle(method, path, a.withDeprecationHeaders(method, path, a.withBodyAndRecheckedCaller(maxLogin, httperror.BodyTooLarge, func(ctx *fasthttp.RequestCtx) {
		if request.IsCrossOriginChangingRequest(&ctx.Request.Header) {
			a.sendError(ctx, errCrossOrigin)
			return
		}
		h(ctx)
	})))
}

// withIdentityProvider returns a handler that calls h with the handlers of the provider's sign-in. It
// answers 404 if no identity provider is configured, and 503 while the exchange starts or stops.
func (a *Admin) withIdentityProvider(h func(*oidc.Handlers, *fasthttp.RequestCtx)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		switch {
		case a.oidc == nil:
			a.sendError(ctx, httperror.New(404, errcode.NotFound, "No identity provider is configured. Set admin.oidc, or log in with a password."))
		case a.engineOfRequestOrNil(ctx) == nil:
			a.sendError(ctx, httperror.Unavailable)
		default:
			h(a.oidc, ctx)
		}
	}
}

// signInMethodsJSON says which ways to sign in the dashboard can offer.
type signInMethodsJSON struct {
	Password    bool            `json:"password"`
	RequireTOTP bool            `json:"require_totp"`
	OIDC        *oidcSignInJSON `json:"oidc"`
}

type oidcSignInJSON struct {
	Label     string `json:"label"`
	Start     string `json:"start"`
	Available bool   `json:"available"`
}

// listSignInMethods answers GET session/methods. It never waits for the identity provider.
func (a *Admin) listSignInMethods(ctx *fasthttp.RequestCtx) (answer any, err error) {
	ctx.Response.Header.Set("Cache-Control", "no-store")
	methods := signInMethodsJSON{Password: !a.locked || hasUserAccounts(a.engineOfRequestOrNil(ctx)), RequireTOTP: a.requireTOTP}
	if a.provider != nil {
		methods.OIDC = &oidcSignInJSON{Label: a.provider.Label(), Start: oidc.PathStart, Available: a.provider.WasReachableOrUnknown()}
	}
	return methods, nil
}

// hasActiveSecondFactor reports whether sign-in with the account's password needs a code.
func hasActiveSecondFactor(e *engine.Engine, account string) bool {
	factor, _ := e.State().SecondFactorEvenIfUnconfirmed(account)
	return factor.Active
}

// secondFactorEvenIfUnconfirmed returns the second factor of an account, even if unconfirmed. Without
// one, or without an engine, it is zero.
func (a *Admin) secondFactorEvenIfUnconfirmed(account string) (factor state.SecondFactor) {
	if e := a.exchange.EngineWhileReady(); e != nil {
		factor, _ = e.State().SecondFactorEvenIfUnconfirmed(account)
	}
	return factor
}

// mustEnrollSecondFactor reports whether the account lacks the second factor that the exchange requires.
func (a *Admin) mustEnrollSecondFactor(e *engine.Engine, account string) bool {
	return a.requireTOTP && !hasActiveSecondFactor(e, account)
}

// requireSecondFactorEnrollment returns a handler that calls h, unless the caller must turn on a second factor
// first and the operation is no part of that.
func (a *Admin) requireSecondFactorEnrollment(operation string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	if enrollmentRoutes[operation] {
		return h
	}
	return func(ctx *fasthttp.RequestCtx) {
		if caller := principalFrom(ctx); caller.hasAccount && a.mustEnrollSecondFactor(a.engineOfRequestOrNil(ctx), caller.name) {
			a.sendError(ctx, errEnrollmentRequired)
			return
		}
		h(ctx)
	}
}

// checkSecondFactor checks the code of a login whose password is right, if the account needs one.
// sealedFactorOrNil is the sealed secret of the factor, nil if the account needs no code. A missing
// code is no failed login: the dashboard asks for it and sends the login again.
func (a *Admin) checkSecondFactor(ctx *fasthttp.RequestCtx, e *engine.Engine, account, code string) (sealedFactorOrNil []byte, err error) {
	factor, _ := e.State().SecondFactorEvenIfUnconfirmed(account)
	switch {
	case account == "" || !factor.Active:
		return nil, nil
	case code == "":
		a.undoFailedLoginCount(ctx, account)
		return nil, team.ErrCodeRequired
	}
	if ok, wait, _ := a.sessions.byCode.Take(account, time.Now().UnixNano()); !ok {
		return nil, errTooManyLogins.WithRetryAfter(wait)
	}
	err = a.team.UseCode(e, &factor, code)
	switch {
	case err == nil:
		a.sessions.byCode.Refund(account)
	case errors.Is(err, team.ErrWrongCode):
		a.meter.CountWrongCredential()
	default:
		a.sessions.byCode.Refund(account)
		a.undoFailedLoginCount(ctx, account)
	}
	return factor.Sealed, err
}

func (a *Admin) undoFailedLoginCount(ctx *fasthttp.RequestCtx, name string) {
	a.sessions.uncountFailedLogin(clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx)), name)
}

// teamServer is the admin server as the packages team and oidc use it.
type teamServer struct{ admin *Admin }

func (t teamServer) CredentialHasher() *token.Issuer { return t.admin.exchange.CredentialHasher() }
func (t teamServer) Seal(name, value string) []byte  { return t.admin.exchange.Seal(name, value) }
func (t teamServer) Now() time.Time                  { return t.admin.sessions.now() }
func (t teamServer) ExchangeNow() time.Time          { return time.Unix(0, t.admin.exchange.Now()) }
func (t teamServer) Tenant() string                  { return t.admin.exchange.ProcessStatus().Tenant }
func (t teamServer) UsesTLS() bool                   { return t.admin.tls != nil }
func (t teamServer) PublicURL() string               { return t.admin.publicURL }

func (t teamServer) Engine(ctx *fasthttp.RequestCtx) *engine.Engine {
	return t.admin.engineOfRequestOrNil(ctx)
}

func (t teamServer) Unseal(name string, sealed []byte) (value string, ok bool) {
	return t.admin.exchange.Unseal(name, sealed)
}

func (t teamServer) NormalizeUserName(name string) (normal string, ok bool) {
	return lowercaseValidUserName(name)
}

func (t teamServer) Caller(ctx *fasthttp.RequestCtx) team.Caller {
	caller := principalFrom(ctx)
	return team.Caller{Name: caller.name, Role: caller.role, HasAccount: caller.hasAccount, UsesAPIToken: caller.token != nil}
}

func (t teamServer) HashPassword(field, password string) (hash string, err error) {
	var wrong payload.FieldErrors
	if addPasswordLengthErrors(&wrong, field, password); len(wrong) > 0 {
		return "", payload.NewInvalidFieldsError(wrong)
	}
	if hash, err = t.admin.sessions.keeper.HashPassword(password); err != nil {
		return "", newPasswordCheckError(err)
	}
	return hash, nil
}

// StartSessionOfAccount starts a session of an account that an invitation has created, and returns
// its description.
func (t teamServer) StartSessionOfAccount(ctx *fasthttp.RequestCtx, account state.OperatorUser) (answer any, err error) {
	return t.admin.startSession(ctx, &session{name: account.Name, user: account, method: bySession}, "POST "+team.PathAccept)
}

// StartSessionWithoutAccount starts the session of a person whom the identity provider has authenticated.
func (t teamServer) StartSessionWithoutAccount(ctx *fasthttp.RequestCtx, person oidc.Identity) error {
	ctx.SetStatusCode(fasthttp.StatusSeeOther) // of each answer to a callback
	_, err := t.admin.startSession(ctx, &session{name: person.Name, role: person.Role, method: byOIDC}, "GET "+oidc.PathCallback)
	return err
}

func (t teamServer) EndOtherSessions(ctx *fasthttp.RequestCtx, account string) {
	t.admin.sessions.endOtherSessions(account, principalFrom(ctx).session)
}

func (t teamServer) CountCodeAttemptAsWrong(ctx *fasthttp.RequestCtx, account string) (undo func(), err error) {
	a, now := t.admin, time.Now().UnixNano()
	from := clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx))
	wait := a.sessions.countLoginAsFailedOrWait(from, account, now)
	if wait == 0 {
		ok, codeWait, _ := a.sessions.byCode.Take(account, now)
		if ok {
			return func() { a.sessions.uncountFailedLogin(from, account); a.sessions.byCode.Refund(account) }, nil
		}
		wait = codeWait
	}
	a.meter.CountWrongCredential()
	a.authFailures.LogTooManyFailures(from)
	return nil, errTooManyLogins.WithRetryAfter(wait)
}

func (t teamServer) CountFailureAndSelectError(ctx *fasthttp.RequestCtx, failure httperror.Error) httperror.Error {
	return t.admin.authFailures.CountFailureAndSelectError(ctx, failure, time.Now().UnixNano())
}

func (t teamServer) CountSignInAsFailedOrReject(ctx *fasthttp.RequestCtx) (undo func(), ok bool) {
	a := t.admin
	from := clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx))
	allowed, wait, _ := a.sessions.byNetwork.Take(from, time.Now().UnixNano())
	if !allowed {
		a.meter.CountWrongCredential()
		a.authFailures.LogTooManyFailures(from)
		a.sendError(ctx, errTooManyLogins.WithRetryAfter(wait))
		return nil, false
	}
	return func() { a.sessions.byNetwork.Refund(from) }, true
}

func (t teamServer) RecordFailedSignIn(ctx *fasthttp.RequestCtx) {
	t.admin.meter.CountWrongCredential()
	t.admin.recordFailedSignIn(ctx, "")
}

// secondFactorStatus says whether the caller's account has a second factor: on, off, required (but off),
// or empty without an account.
func (a *Admin) secondFactorStatus(e *engine.Engine, caller *principal) (onOffRequiredOrEmpty string) {
	switch {
	case !caller.hasAccount:
		return ""
	case hasActiveSecondFactor(e, caller.name):
		return "on"
	case a.requireTOTP:
		return "required"
	}
	return "off"
}
