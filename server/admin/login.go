package admin

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/keys/passphrase"
	"pingpost/server/admin/payload"
	"pingpost/server/admin/team"
	"pingpost/server/clientaddr"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

const (
	pathSession     = "/admin/v1/session"
	pathMethods     = "/admin/v1/session/methods"
	pathUsers       = "/admin/v1/users"
	pathUser        = "/admin/v1/users/{name}"
	pathPassword    = "/admin/v1/users/{name}/password"
	pathAPITokens   = "/admin/v1/api-tokens"
	pathOneAPIToken = "/admin/v1/api-tokens/{id}"
)

// addSessionUserAndTokenRoutes registers the operations on operators' sessions, users and API
// tokens with the function add.
func (a *Admin) addSessionUserAndTokenRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", pathSession, a.withAnswerOrErrorSent(a.getSession))
	add("DELETE", pathSession, a.logout)
	add("GET", pathUsers, a.withEngine(a.listUsers))
	add("PUT", pathUser, a.withEngine(a.createOrChangeUser))
	add("DELETE", pathUser, a.withEngine(a.removeUser))
	add("PUT", pathPassword, a.withEngine(a.setPassword))
	add("GET", pathAPITokens, a.withEngine(a.listAPITokens))
	add("POST", pathAPITokens, a.withEngine(a.addAPIToken))
	add("DELETE", pathOneAPIToken, a.withEngine(a.revokeAPIToken))
}

var (
	errWrongLogin    = httperror.New(401, errcode.Unauthorized, "The user name or the password is wrong.").CountedAsWrongCredential()
	errTooManyLogins = httperror.New(429, errcode.RateLimited, "Too many logins from this address or for this name have failed. Try again after the time in Retry-After.")
	errTooManyHashes = httperror.New(503, errcode.Unavailable, "Too many passwords are being checked at once. Try again after the time in Retry-After.")
)

// login starts a session for a user with the right password and, if the account has a second factor, a
// right code. It also accepts the configured password, with a name that belongs to no user. An unknown
// name takes as long to reject as a wrong password.
//
// Checking a password costs more than any other request. So failures count per client network
// and per name, and over the limit no password is checked.
func (a *Admin) login(ctx *fasthttp.RequestCtx) (answer any, err error) {
	if request.IsCrossOriginChangingRequest(&ctx.Request.Header) {
		return nil, errCrossOrigin
	}
	var body struct {
		Name     string `json:"name"`
		Password string `json:"password"`
		Code     string `json:"code"`
	}
	e := a.engineOfRequestOrNil(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	name, proper := lowercaseValidUserName(body.Name)
	if !proper {
		name = sanitizeActorName(body.Name)
	}
	from, now := clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx)), time.Now().UnixNano()
	if wait := a.sessions.countLoginAsFailedOrWait(from, name, now); wait > 0 {
		a.meter.CountWrongCredential()
		a.authFailures.LogTooManyFailures(from)
		return nil, errTooManyLogins.WithRetryAfter(wait)
	}
	user, _ := e.State().OperatorUser(name)
	right, err := a.sessions.keeper.CheckPassword(user.Password, body.Password[:min(len(body.Password), passphrase.MaxLength)])
	right = right && len(body.Password) <= passphrase.MaxLength || user.Name == "" && a.isConfiguredPassword(body.Password)
	switch {
	case err != nil:
		a.sessions.uncountFailedLogin(from, name)
		return nil, newPasswordCheckError(err)
	case !right:
		a.meter.CountWrongCredential()
		a.recordFailedSignIn(ctx, user.Name)
		return nil, errWrongLogin
	}
	factor, err := a.checkSecondFactor(ctx, e, user.Name, body.Code)
	if err != nil {
		if body.Code != "" {
			a.recordFailedSignIn(ctx, user.Name)
		}
		return nil, err
	}
	a.sessions.uncountFailedLogin(from, name)
	return a.startSession(ctx, &session{name: name, user: user, role: market.RoleAdmin, method: bySession, factor: factor}, "POST "+pathSession)
}

// countLoginAsFailedOrWait counts a login from a client network under a user name as failed. The
// caller undoes it after a success. If there were too many failures, it returns how long to
// wait.
func (t *sessionStore) countLoginAsFailedOrWait(clientNetwork netip.Prefix, userName string, nowNanos int64) (wait time.Duration) {
	ok, wait, _ := t.byNetwork.Take(clientNetwork, nowNanos)
	if !ok {
		return wait
	}
	if ok, wait, _ = t.byName.Take(userName, nowNanos); !ok {
		t.byNetwork.Refund(clientNetwork)
		return wait
	}
	return 0
}

// uncountFailedLogin undoes countLoginAsFailedOrWait, because the login succeeded or the password
// could not be checked.
func (t *sessionStore) uncountFailedLogin(clientNetwork netip.Prefix, userName string) {
	t.byNetwork.Refund(clientNetwork)
	t.byName.Refund(userName)
}

// newPasswordCheckError returns the API error for a password that could not be checked, because too
// many checks run at the same time or hashing failed.
func newPasswordCheckError(err error) httperror.Error {
	if errors.Is(err, passphrase.ErrBusy) {
		return errTooManyHashes
	}
	return httperror.New(503, errcode.Unavailable, err.Error())
}

// startSession records the sign-in and starts the session s, after the operation has authenticated
// the person. It adds the session's cookie to the answer and returns a description of the user.
// Without a record there is no session, and neither if the account got a second factor meanwhile.
func (a *Admin) startSession(ctx *fasthttp.RequestCtx, s *session, operation string) (answer any, err error) {
	who := principal{name: s.name, role: s.role, method: s.method, session: s}
	if s.user.Name != "" {
		who.role, who.hasAccount = s.user.Role, true
	}
	value, ok := a.sessions.addSession(s)
	if !ok {
		a.recordFailedSignIn(ctx, s.user.Name)
		return nil, team.ErrCodeRequired
	}
	if err := a.recordSignIn(ctx, &who, operation); err != nil {
		a.sessions.endSession(s)
		return nil, err
	}
	connection.MarkAuthenticated(ctx)
	a.setOrDeleteSessionCookie(ctx, value, int(sessionLife.Seconds()))
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return a.describePrincipal(a.engineOfRequestOrNil(ctx), &who), nil
}

// sessionCookieNameWithPort returns the name of the session's cookie at the address of a request.
func sessionCookieNameWithPort(header *fasthttp.RequestHeader) string {
	return request.CookieNameWithPort(header, cookieName)
}

func (a *Admin) setOrDeleteSessionCookie(ctx *fasthttp.RequestCtx, value string, maxAgeSeconds int) {
	var cookie fasthttp.Cookie
	cookie.SetKey(sessionCookieNameWithPort(&ctx.Request.Header))
	cookie.SetValue(value)
	cookie.SetPath("/")
	cookie.SetSecure(true)
	cookie.SetHTTPOnly(true)
	cookie.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	if maxAgeSeconds > 0 {
		cookie.SetMaxAge(maxAgeSeconds)
	} else {
		cookie.SetExpire(fasthttp.CookieExpireDelete)
	}
	ctx.Response.Header.SetCookie(&cookie)
}

// getSession answers GET session with the caller's name, role and, in a session, CSRF token.
func (a *Admin) getSession(ctx *fasthttp.RequestCtx) (answer any, err error) {
	who := principalFrom(ctx)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return a.describePrincipal(a.engineOfRequestOrNil(ctx), &who), nil
}

// principalJSON describes the authenticated caller in JSON.
type principalJSON struct {
	Name    string  `json:"name"`
	Role    string  `json:"role"`
	By      string  `json:"by"`
	CSRF    string  `json:"csrf,omitempty"`
	Expires *string `json:"expires_at"`
	Method  string  `json:"method"`
	Factor  *string `json:"second_factor"`
}

func (a *Admin) describePrincipal(e *engine.Engine, caller *principal) principalJSON {
	document := principalJSON{Name: caller.name, Role: caller.role.String(), By: "password", Method: caller.method.String(), Factor: payload.NullIfEmpty(a.secondFactorStatus(e, caller))}
	switch {
	case caller.session != nil:
		document.By, document.CSRF = "session", caller.session.csrf
		document.Expires = payload.FormatTimeOrNull(a.sessions.sessionExpiry(caller.session).UnixNano())
	case caller.token != nil:
		document.By, document.Expires = "token", payload.FormatTimeOrNull(caller.token.Expires)
	}
	return document
}

// logout ends the caller's session and deletes its cookie. Without a session it only answers
// 204.
func (a *Admin) logout(ctx *fasthttp.RequestCtx) {
	if s := principalFrom(ctx).session; s != nil {
		a.sessions.endSession(s)
		a.setOrDeleteSessionCookie(ctx, "", 0)
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// lowercaseValidUserName returns a user name in lower case, because people confuse names that differ
// only in case. It returns false if the name has forbidden characters or a forbidden length, or
// does not begin and end with a letter or digit.
func lowercaseValidUserName(given string) (name string, ok bool) {
	name = strings.Map(toLowerASCII, given)
	if name == "" || len(name) > maxActor || strings.ContainsFunc(name, isInvalidInUserName) {
		return "", false
	}
	return name, strings.Trim(name, "._-@+") == name
}

// toLowerASCII converts an ASCII letter to lower case. It leaves other letters unchanged,
// because Unicode's rules would turn the Kelvin sign into a k.
func toLowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func isInvalidInUserName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-@+", r)
}
