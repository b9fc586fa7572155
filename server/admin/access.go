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
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/keys/passphrase"
	"pingpost/server/clientaddr"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// principal is the authenticated caller of the admin API.
type principal struct {
	name       string // a user's name; with the configured password, the name that the client gave
	role       market.Role
	hasAccount bool            // name is an account's
	account    state.User      // the account at authentication, for sessions and passwords
	session    *session        // nil for other credentials
	token      *state.APIToken // nil for other credentials
}

// principalKey is the request's user value that holds its principal.
const principalKey = "asker"

func principalFrom(ctx *fasthttp.RequestCtx) principal {
	caller, _ := ctx.UserValue(principalKey).(principal)
	return caller
}

// callerNameOf returns the name of the caller, as log records and audit readers see it. It is
// empty before authentication.
func callerNameOf(ctx *fasthttp.RequestCtx) string { return principalFrom(ctx).name }

// callerRoleOf returns the role of the caller, or none before authentication.
func callerRoleOf(ctx *fasthttp.RequestCtx) market.Role { return principalFrom(ctx).role }

var (
	errBadAPIToken  = httperror.New(401, errcode.Unauthorized, "The API token is unknown, expired or revoked. Create a new one.").AsWrongCredential()
	errSessionEnded = httperror.New(401, errcode.Unauthorized, "The session has expired, or the account was changed. Log in again.")
	errCSRF         = httperror.New(403, errcode.Forbidden, "The CSRF token is missing or wrong. A changing request in a session needs the session's csrf in X-CSRF-Token; GET session returns it.")
)

// addRoute adds a path with the role that it requires.
func (a *Admin) addRoute(routes *router.Router, method, path string, h fasthttp.RequestHandler) {
	routes.Handle(method, path, a.requireRole(requiredRole(method, path), a.withDeprecationHeaders(method, path, h)))
}

// requireRole calls the handler if the caller is authenticated and has the role. Unauthenticated
// clients do not learn which paths exist.
func (a *Admin) requireRole(required market.Role, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	short := httperror.New(403, errcode.Forbidden, fmt.Sprintf("This request needs the role %s, which you do not have. Ask an admin.", required))
	return func(ctx *fasthttp.RequestCtx) {
		who, bad := a.authenticate(ctx)
		switch {
		case bad.Status != 0:
			a.sendAuthenticationError(ctx, bad)
			return
		case request.IsCrossOrigin(&ctx.Request.Header):
			bad = errCrossOrigin
		case who.session != nil && !who.session.isCSRFValid(&ctx.Request.Header):
			bad = errCSRF
		case who.role < required:
			bad = short
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

// authenticate returns the caller. The first valid credential counts: the session cookie, a
// personal API token, the configured password, a user's password. Otherwise the last one determines the error.
func (a *Admin) authenticate(ctx *fasthttp.RequestCtx) (caller principal, bad httperror.Error) {
	bad = errNotAuthenticated
	if cookie := ctx.Request.Header.Cookie(cookieName); len(cookie) > 0 {
		if caller, ok := a.authenticateSession(cookie); ok {
			return caller, httperror.Error{}
		}
		bad = errSessionEnded
	}
	header := ctx.Request.Header.Peek("Authorization")
	scheme, value, _ := bytes.Cut(header, []byte(" "))
	value = bytes.TrimSpace(value)
	if bytes.EqualFold(scheme, []byte("Bearer")) && bytes.HasPrefix(value, []byte(apiTokenPrefix)) {
		if caller, ok := a.authenticateAPIToken(value); ok {
			return caller, httperror.Error{}
		}
		return principal{}, errBadAPIToken
	}
	user, password, ok := request.BasicAuth(string(header))
	switch {
	case !ok:
		return principal{}, bad
	case a.isConfiguredPassword(password):
		return principal{name: a.nameForSharedPassword(user), role: market.RoleAdmin}, httperror.Error{}
	case a.hasAccounts():
		return a.authenticateUser(ctx, user, password)
	case a.locked:
		return principal{}, bad
	}
	return principal{}, errBadPassword
}

// isConfiguredPassword compares with the configured password, in constant time.
func (a *Admin) isConfiguredPassword(password string) bool {
	given := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(given[:], a.password[:]) == 1 && !a.locked
}

// nameForSharedPassword returns the name under which the configured password acts. The given name is not verified, so it cannot be the name of an account.
func (a *Admin) nameForSharedPassword(given string) string {
	name := cleanActorName(given)
	if e := a.operator.Engine(); e != nil {
		account, _ := parseUserName(name)
		if _, taken := e.State().User(account); taken {
			return sharedName
		}
	}
	return name
}

// authenticateAPIToken returns the user of a personal API token, with the lower of the token's and the
// user's role.
func (a *Admin) authenticateAPIToken(value []byte) (principal, bool) {
	e, now := a.operator.Engine(), time.Now().UnixNano()
	if e == nil {
		return principal{}, false
	}
	token, user, ok := e.State().APIToken(a.operator.Tokens().HashPersonal(value))
	if !ok || token.IsExpired(now) || user.Name == "" {
		return principal{}, false
	}
	a.sessions.recordTokenUse(&token, now)
	return principal{name: user.Name, role: min(token.Role, user.Role), hasAccount: true, token: &token}, true
}

// isStillValid reports whether the caller would be authenticated again.
func (a *Admin) isStillValid(caller *principal) bool {
	if caller.session != nil && !a.sessions.isValid(caller.session) {
		return false
	}
	if !caller.hasAccount {
		return true
	}
	e := a.operator.Engine()
	if e == nil {
		return false
	}
	if caller.token == nil {
		now, ok := e.State().User(caller.name)
		return ok && now == caller.account
	}
	_, _, ok := e.State().APIToken(caller.token.Hash)
	return ok && !caller.token.IsExpired(time.Now().UnixNano())
}

// checkStillValid checks the caller again after its body has arrived, which may take long.
// The zero error means that the caller is still valid.
func (a *Admin) checkStillValid(ctx *fasthttp.RequestCtx) httperror.Error {
	caller := principalFrom(ctx)
	if a.isStillValid(&caller) {
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

// authenticateSession returns the caller of a session cookie. A session ends when its user changes.
func (a *Admin) authenticateSession(cookie []byte) (principal, bool) {
	s := a.sessions.findSession(cookie)
	if s == nil {
		return principal{}, false
	}
	if s.user.Name == "" {
		return principal{name: s.name, role: market.RoleAdmin, session: s}, true
	}
	e := a.operator.Engine()
	if e == nil {
		return principal{}, false
	}
	if now, ok := e.State().User(s.user.Name); !ok || now != s.user {
		a.sessions.endSession(s)
		return principal{}, false
	}
	return principal{name: s.name, role: s.user.Role, hasAccount: true, account: s.user, session: s}, true
}

// isFromDashboard reports whether the dashboard sent the request. It has its own login form;
// a challenge would make the browser show another one.
func isFromDashboard(ctx *fasthttp.RequestCtx) bool {
	return string(ctx.Request.Header.Peek("X-Requested-With")) == "dashboard"
}

const (
	maxActor   = 64         // bytes
	sharedName = "operator" // acts when the configured password comes without a name
)

// cleanActorName cleans the name that a client gives with the configured password, and cuts it
// to the length that a log record holds. The name is not verified; it only tells apart the people with the password.
func cleanActorName(given string) string {
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, given)
	for len(name) > maxActor {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimSpace(name); name == "" {
		return sharedName
	}
	return name
}

// sendAuthenticationError answers a failed authentication. A wrong password also closes the connection.
func (a *Admin) sendAuthenticationError(ctx *fasthttp.RequestCtx, bad httperror.Error) {
	ctx.Response.Header.Del("Allow")
	bad = a.authFailures.LimitFailure(ctx, bad, time.Now().UnixNano())
	a.sendError(ctx, bad)
	if bad.Status == fasthttp.StatusUnauthorized && !isFromDashboard(ctx) {
		ctx.Response.Header.Set(httperror.HeaderChallenge, httperror.ChallengeBasic)
	}
	if bad != errNotAuthenticated && bad != errSessionEnded {
		ctx.SetConnectionClose()
	}
}

// requiredRole returns the role that a path requires: viewer to read, admin to change, and the
// exceptions in roles.
func requiredRole(method, path string) market.Role {
	if role, ok := roles[method+" "+path]; ok {
		return role
	}
	if method == "GET" {
		return market.RoleViewer
	}
	return market.RoleAdmin
}

var roles = map[string]market.Role{
	"GET /debug/pprof/{name:*}": market.RoleAdmin, // memory contains secrets
	"GET " + pathUsers:          market.RoleAdmin,

	"POST /admin/v1/deliveries/{lead}/{how}":           market.RoleOperator,
	"POST /admin/v1/returns/{lead}":                    market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/pause":              market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/resume":             market.RoleOperator,
	"POST /admin/v1/buyers/{id}/pause":                 market.RoleOperator,
	"POST /admin/v1/buyers/{id}/resume":                market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/dead/{event}/resend": market.RoleOperator,
	"DELETE /admin/v1/webhooks/{id}/dead/{event}":      market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/resend":              market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/off":                 market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/on":                  market.RoleOperator,
	"POST /admin/v1/bench":                             market.RoleOperator,
	"PUT /admin/v1/suppression/{id}":                   market.RoleOperator,
	"POST /admin/v1/backup":                            market.RoleOperator,
	"POST /admin/v1/report/rebuild":                    market.RoleOperator,

	// The handlers restrict these to the caller's own things.
	"DELETE " + pathSession:     market.RoleViewer,
	"PUT " + pathPassword:       market.RoleViewer,
	"POST " + pathAPITokens:     market.RoleViewer,
	"DELETE " + pathOneAPIToken: market.RoleViewer,
}

// hasAccounts reports whether there are accounts.
func (a *Admin) hasAccounts() bool {
	e := a.operator.Engine()
	return e != nil && len(e.State().Users()) > 0
}

// authenticateUser authenticates a name and a password from HTTP Basic. A failure counts as a
// failed login. An unknown name costs as much time as a known one. Over the limit it
// returns a 429.
func (a *Admin) authenticateUser(ctx *fasthttp.RequestCtx, given, password string) (principal, httperror.Error) {
	name, proper := parseUserName(given)
	if !proper {
		name = cleanActorName(given)
	}
	t := a.sessions
	user, _ := a.operator.Engine().State().User(name)
	who := principal{name: user.Name, role: user.Role, hasAccount: true, account: user}
	known, end := t.verified.startPasswordCheck(t.verified.mac(name, password), &user, t.now())
	if known {
		t.recordUserSeen(name)
		return who, httperror.Error{}
	}
	right := false
	defer func() { end(right) }()
	from := clientaddr.NetworkOf(a.authFailures.ClientAddress(ctx))
	if wait := t.countLoginAttempt(from, name, time.Now().UnixNano()); wait > 0 {
		a.meter.CountWrongCredential()
		a.authFailures.LogThrottled(from)
		return principal{}, errTooManyLogins.WithRetryAfter(wait)
	}
	right, err := t.verified.check(user.Password, password[:min(len(password), passphrase.MaxLength)])
	right = right && len(password) <= passphrase.MaxLength
	switch {
	case err != nil:
		t.uncountLoginAttempt(from, name)
		return principal{}, hashingError(err)
	case !right:
		return principal{}, errWrongLogin
	}
	t.uncountLoginAttempt(from, name)
	t.recordUserSeen(name)
	return who, httperror.Error{}
}
