package admin

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/keys/passphrase"
	"pingpost/server/admin/oidc"
	"pingpost/server/clientaddr"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// principal is the authenticated caller of the admin API.
type principal struct {
	name       string // a user's name; with the configured password, the name that the client gave
	role       market.OperatorRole
	hasAccount bool               // name is an account's
	account    state.OperatorUser // the account at authentication, for sessions and passwords
	method     signInMethod
	session    *session        // nil for other credentials
	token      *state.APIToken // nil for other credentials
}

// principalKey is the name under which a request stores its authenticated caller.
const principalKey = "asker"

func principalFrom(ctx *fasthttp.RequestCtx) principal {
	caller, _ := ctx.UserValue(principalKey).(principal)
	return caller
}

// callerNameOf returns the name under which the log records an operator's action. It is empty
// before authentication.
func callerNameOf(ctx *fasthttp.RequestCtx) string { return principalFrom(ctx).name }

// isCallerAdmin reports whether the caller has the role admin, which an API token may lower.
func isCallerAdmin(ctx *fasthttp.RequestCtx) bool { return principalFrom(ctx).role >= market.RoleAdmin }

var (
	errBadAPIToken  = httperror.New(401, errcode.Unauthorized, "The API token is unknown, expired or revoked. Create a new one.").CountedAsWrongCredential()
	errSessionEnded = httperror.New(401, errcode.Unauthorized, "The session has expired, or the account was changed. Log in again.")
	errCSRF         = httperror.New(403, errcode.Forbidden, "The CSRF token is missing or wrong. A changing request in a session needs the session's csrf in X-CSRF-Token; GET session returns it.")
)

// addProtectedRoute registers the handler h for a method and a path. Only callers with at least the
// role that requiredRole returns reach the handler. Callers who must first turn on a second factor
// reach only enrollmentRoutes.
func (a *Admin) addProtectedRoute(routes *router.Router, method, path string, h fasthttp.RequestHandler) {
	operation := method + " " + path
	routes.Handle(method, path, a.authenticateAndRequireRole(requiredRole(method, path), operation, a.requireSecondFactorEnrollment(operation, a.withDeprecationHeaders(method, path, h))))
}

// authenticateAndRequireRole returns a handler that calls h only if the caller is authenticated and has
// at least the required role. Otherwise it answers with the error: 401, 403, 429 or 503. It also wraps
// the answer for unknown paths, so that unauthenticated clients do not learn which paths exist. The
// audit log records a refusal for lack of the role under the name operation. It records no refusals of
// reads, and no refusals if operation is empty.
func (a *Admin) authenticateAndRequireRole(required market.OperatorRole, operation string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	short := httperror.New(403, errcode.Forbidden, fmt.Sprintf("This request needs the role %s, which you do not have. Ask an admin.", required))
	return func(ctx *fasthttp.RequestCtx) {
		who, bad := a.authenticate(ctx)
		switch {
		case bad.Status != 0:
			a.sendAuthenticationError(ctx, bad)
			return
		case request.IsCrossOriginChangingRequest(&ctx.Request.Header):
			bad = errCrossOrigin
		case who.session != nil && !who.session.isCSRFValidOrUnneeded(&ctx.Request.Header):
			bad = errCSRF
		case who.role < required:
			bad = a.recordRefusal(ctx, &who, operation, short)
		}
		connection.MarkAuthenticated(ctx)
		if bad.Status != 0 {
			ctx.Response.Header.Del("Allow")
			a.sendError(ctx, bad)
			return
		}
		ctx.SetUserValue(principalKey, who)
		h(ctx)
	}
}

// authenticate returns the caller of a request, or an error. It accepts a session cookie, a
// personal API token, the configured password, or a user's password. A request may have several
// of them: the first valid one counts, and if all are invalid, the last one determines the
// error.
func (a *Admin) authenticate(ctx *fasthttp.RequestCtx) (caller principal, bad httperror.Error) {
	bad = errNotAuthenticated
	e := a.engineOfRequestOrNil(ctx)
	if cookie := ctx.Request.Header.Cookie(sessionCookieNameWithPort(&ctx.Request.Header)); len(cookie) > 0 {
		if caller, bad = a.authenticateSession(e, cookie); bad.Status == 0 {
			return caller, httperror.Error{}
		}
	}
	header := ctx.Request.Header.Peek("Authorization")
	scheme, value, _ := bytes.Cut(header, []byte(" "))
	value = bytes.TrimSpace(value)
	if bytes.EqualFold(scheme, []byte("Bearer")) && bytes.HasPrefix(value, []byte(apiTokenPrefix)) {
		return a.authenticateAPIToken(e, value)
	}
	user, password, ok := request.ParseBasicAuth(string(header))
	switch {
	case !ok:
		return principal{}, bad
	case a.isConfiguredPassword(password):
		return principal{name: actorNameForSharedPassword(e, user), role: market.RoleAdmin, method: bySharedPassword}, httperror.Error{}
	case hasUserAccounts(e):
		return a.authenticateUser(ctx, e, user, password)
	case a.locked:
		return principal{}, bad
	}
	return principal{}, errBadPassword
}

// isConfiguredPassword reports whether the password is the one in the configuration
// (admin.password). Without a configured password the result is false. The comparison takes the
// same time for every password.
func (a *Admin) isConfiguredPassword(password string) bool {
	given := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(given[:], a.password[:]) == 1 && !a.locked
}

// actorNameForSharedPassword returns the name under which the log records a caller with the
// configured password. The client's name is not verified. So if it is the name of an account, the
// result is "operator". Without an engine there are no accounts.
func actorNameForSharedPassword(e *engine.Engine, unverifiedName string) (nameOrOperator string) {
	name := sanitizeActorName(unverifiedName)
	if e != nil {
		account, _ := lowercaseValidUserName(name)
		if _, taken := e.State().OperatorUser(account); taken {
			return sharedName
		}
	}
	return name
}

// authenticateAPIToken returns the caller of a request with a personal API token, or an error if
// the token is unknown or expired. The caller's role is the lower one of the token's role and
// the user's role.
func (a *Admin) authenticateAPIToken(e *engine.Engine, tokenValue []byte) (caller principal, bad httperror.Error) {
	if e == nil {
		return principal{}, httperror.Unavailable
	}
	now := time.Now().UnixNano()
	token, user, ok := e.State().APITokenEvenIfExpired(a.exchange.CredentialHasher().HashOperatorAPIToken(tokenValue))
	if !ok || token.IsExpired(now) || user.Name == "" {
		return principal{}, errBadAPIToken
	}
	a.sessions.recordTokenUse(&token, now)
	return principal{name: user.Name, role: min(token.Role, user.Role), hasAccount: true, method: byAPIToken, token: &token}, httperror.Error{}
}

// isStillValid reports whether a caller that was authenticated earlier is still allowed: the
// session, token and account must still exist unchanged. Long uploads, exports and event streams ask
// it repeatedly, with the current engine.
func (a *Admin) isStillValid(e *engine.Engine, caller *principal) bool {
	if caller.session != nil && !a.sessions.isSessionValid(caller.session) {
		return false
	}
	if !caller.hasAccount {
		return true
	}
	if e == nil {
		return false
	}
	if caller.token == nil {
		now, ok := e.State().OperatorUser(caller.name)
		factor, _ := e.State().SecondFactorEvenIfUnconfirmed(caller.name)
		return ok && now == caller.account && (caller.method != byPassword || !factor.Active)
	}
	_, _, ok := e.State().APITokenEvenIfExpired(caller.token.Hash)
	return ok && !caller.token.IsExpired(time.Now().UnixNano())
}

// checkCallerStillValid checks with isStillValid, after the request's body has arrived, that the caller
// is still allowed. Receiving the body may take long. The zero error means that the caller is still
// valid.
func (a *Admin) checkCallerStillValid(ctx *fasthttp.RequestCtx) httperror.Error {
	caller := principalFrom(ctx)
	if a.isStillValid(a.engineOfRequestOrNil(ctx), &caller) {
		return httperror.Error{}
	}
	return caller.invalidCallerError()
}

// invalidCallerError returns the error for a caller who is no longer valid.
func (caller *principal) invalidCallerError() httperror.Error {
	switch {
	case caller.token != nil:
		return errBadAPIToken
	case caller.session == nil:
		return errWrongLogin
	}
	return errSessionEnded
}

// authenticateSession returns the caller that a session cookie identifies, or an error. A session
// ends here if its user was changed or removed since the login.
func (a *Admin) authenticateSession(e *engine.Engine, cookie []byte) (caller principal, bad httperror.Error) {
	s := a.sessions.findSessionAndRecordUse(cookie)
	if s == nil {
		return principal{}, errSessionEnded
	}
	if s.user.Name == "" {
		return principal{name: s.name, role: s.role, method: s.method, session: s}, httperror.Error{}
	}
	if e == nil {
		return principal{}, httperror.Unavailable
	}
	if now, ok := e.State().OperatorUser(s.user.Name); !ok || now != s.user {
		a.sessions.endSession(s)
		return principal{}, errSessionEnded
	}
	return principal{name: s.name, role: s.user.Role, hasAccount: true, account: s.user, method: s.method, session: s}, httperror.Error{}
}

// isFromDashboard reports whether the dashboard sent the request. The dashboard has its own
// login form. So the answer must not have a challenge header, which would make the browser open
// a second one.
func isFromDashboard(ctx *fasthttp.RequestCtx) bool {
	return string(ctx.Request.Header.Peek("X-Requested-With")) == "dashboard"
}

const (
	maxActor   = 64         // bytes
	sharedName = "operator" // in log records, for the configured password without a usable name
)

// sanitizeActorName returns the name that a client sent with the configured password in a form
// that log records can hold: printable and at most 64 bytes. The name is not verified; it only
// tells apart the people who share the password. So it cannot begin like the names of people whom the
// identity provider has authenticated.
func sanitizeActorName(clientName string) string {
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, clientName)
	for len(name) > maxActor {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimSpace(name); name == "" || len(name) >= len(oidc.NamePrefix) && strings.EqualFold(name[:len(oidc.NamePrefix)], oidc.NamePrefix) {
		return sharedName
	}
	return name
}

// sendAuthenticationError answers a request with a missing or wrong credential. Too many wrong ones
// from one client network get a 429. It also closes the connection, except after a missing
// credential or an ended session.
func (a *Admin) sendAuthenticationError(ctx *fasthttp.RequestCtx, bad httperror.Error) {
	ctx.Response.Header.Del("Allow")
	if bad.WrongCredential {
		a.recordFailedSignIn(ctx, a.basicAuthAccountNameOrEmpty(ctx))
	}
	bad = a.authFailures.CountFailureAndSelectError(ctx, bad, time.Now().UnixNano())
	a.sendError(ctx, bad)
	if bad.Status == fasthttp.StatusUnauthorized && !isFromDashboard(ctx) {
		ctx.Response.Header.Set(httperror.HeaderChallenge, httperror.ChallengeBasic)
	}
	if bad != errNotAuthenticated && bad != errSessionEnded {
		ctx.SetConnectionClose()
	}
}

// requiredRole returns the role that an operation requires: viewer for GET, admin for all other
// methods, except where the table roles has another role.
func requiredRole(method, path string) market.OperatorRole {
	if role, ok := roles[method+" "+path]; ok {
		return role
	}
	if method == "GET" {
		return market.RoleViewer
	}
	return market.RoleAdmin
}

var roles = map[string]market.OperatorRole{
	"GET /debug/pprof/{name:*}": market.RoleAdmin, // memory contains secrets
	"GET " + pathUsers:          market.RoleAdmin,
	"GET /admin/v1/invitations": market.RoleAdmin,

	"POST /admin/v1/deliveries/{lead}/{how}":             market.RoleOperator,
	"POST /admin/v1/returns/{lead}":                      market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/pause":                market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/resume":               market.RoleOperator,
	"POST /admin/v1/buyers/{id}/pause":                   market.RoleOperator,
	"POST /admin/v1/buyers/{id}/resume":                  market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/dead/{event}/resend":   market.RoleOperator,
	"DELETE /admin/v1/webhooks/{id}/dead/{event}":        market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/resend":                market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/off":                   market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/on":                    market.RoleOperator,
	"POST /admin/v1/bench":                               market.RoleOperator,
	"PUT /admin/v1/suppression/{id}":                     market.RoleOperator,
	"POST /admin/v1/backup":                              market.RoleOperator,
	"POST /admin/v1/report/rebuild":                      market.RoleOperator,
	"POST /admin/v1/leads/find":                          market.RoleViewer, // masked
	"POST /admin/v1/leads/{id}/reveal":                   market.RoleOperator,
	"GET /admin/v1/audit":                                market.RoleOperator,
	"POST /admin/v1/alerts/silences":                     market.RoleOperator,
	"POST /admin/v1/saved-reports":                       market.RoleOperator,
	"PUT /admin/v1/saved-reports/{id}":                   market.RoleOperator,
	"DELETE /admin/v1/saved-reports/{id}":                market.RoleOperator,
	"POST /admin/v1/saved-reports/{id}/send":             market.RoleOperator,
	"DELETE /admin/v1/alerts/silences/{id}":              market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/instructions/link":    market.RoleOperator,
	"DELETE /admin/v1/suppliers/{id}/instructions/links": market.RoleOperator,

	// The handlers restrict these to the caller's own things.
	"DELETE " + pathSession:                    market.RoleViewer,
	"POST /admin/v1/users/{name}/totp":         market.RoleViewer,
	"POST /admin/v1/users/{name}/totp/confirm": market.RoleViewer,
	"DELETE /admin/v1/users/{name}/totp":       market.RoleViewer,
	"PUT " + pathPassword:                      market.RoleViewer,
	"POST " + pathAPITokens:                    market.RoleViewer,
	"DELETE " + pathOneAPIToken:                market.RoleViewer,
}

// hasUserAccounts reports whether any user account exists. Without accounts, HTTP Basic accepts only
// the configured password. Without an engine the result is false.
func hasUserAccounts(e *engine.Engine) bool {
	return e != nil && len(e.State().OperatorUsers()) > 0
}

// authenticateUser authenticates a user name and password from HTTP Basic. Wrong ones count as
// a failed login. After too many the error is a 429, also for a right password that the cache of
// verified passwords does not have. An unknown name takes as long to reject as a wrong password,
// so that clients cannot find out which names exist.
func (a *Admin) authenticateUser(ctx *fasthttp.RequestCtx, e *engine.Engine, userName, password string) (caller principal, failure httperror.Error) {
	name, proper := lowercaseValidUserName(userName)
	if !proper {
		name = sanitizeActorName(userName)
	}
	t := a.sessions
	user, _ := e.State().OperatorUser(name)
	who := principal{name: user.Name, role: user.Role, hasAccount: true, account: user, method: byPassword}
	known, end := t.verified.awaitOrStartPasswordCheck(t.verified.mac(name, password), &user, t.now())
	if known {
		t.recordUserSeen(name)
		return rejectIfSecondFactorActive(e, who)
	}
	right := false
	defer func() { end(right) }()
	from := clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx))
	if wait := t.countLoginAsFailedOrWait(from, name, time.Now().UnixNano()); wait > 0 {
		a.meter.CountWrongCredential()
		a.authFailures.LogTooManyFailures(from)
		return principal{}, errTooManyLogins.WithRetryAfter(wait)
	}
	right, err := t.verified.check(user.Password, password[:min(len(password), passphrase.MaxLength)])
	right = right && len(password) <= passphrase.MaxLength
	switch {
	case err != nil:
		t.uncountFailedLogin(from, name)
		return principal{}, newPasswordCheckError(err)
	case !right:
		return principal{}, errWrongLogin
	}
	t.uncountFailedLogin(from, name)
	t.recordUserSeen(name)
	return rejectIfSecondFactorActive(e, who)
}

// rejectIfSecondFactorActive returns an error if the account of a caller with the right password has a second
// factor, because HTTP Basic has no place for a code.
func rejectIfSecondFactorActive(e *engine.Engine, caller principal) (principal, httperror.Error) {
	if hasActiveSecondFactor(e, caller.name) {
		return principal{}, errBasicWithFactor
	}
	return caller, httperror.Error{}
}
