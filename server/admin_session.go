package server

import (
	"errors"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/passphrase"
)

const (
	pathSession     = "/admin/v1/session"
	pathUsers       = "/admin/v1/users"
	pathUser        = "/admin/v1/users/{name}"
	pathPassword    = "/admin/v1/users/{name}/password"
	pathAPITokens   = "/admin/v1/api-tokens"
	pathOneAPIToken = "/admin/v1/api-tokens/{id}"
)

// accessRoutes are those about who may come in.
func (a *Admin) accessRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", pathSession, a.session)
	add("DELETE", pathSession, a.logOut)
	add("GET", pathUsers, a.users)
	add("PUT", pathUser, a.setUser)
	add("DELETE", pathUser, a.removeUser)
	add("PUT", pathPassword, a.setPassword)
	add("GET", pathAPITokens, a.apiTokens)
	add("POST", pathAPITokens, a.addAPIToken)
	add("DELETE", pathOneAPIToken, a.revokeAPIToken)
}

var (
	faultLogin   = fault{401, errcode.Unauthorized, "The name and the password are not those of a user."}
	faultLogins  = fault{429, errcode.RateLimited, "Too many logins have failed, from this address or for this name. Try again after the time in Retry-After."}
	faultHashing = fault{503, errcode.Unavailable, "Too many passwords are being checked at once. Try again after the time in Retry-After."}
)

// logIn begins a session for who knows a user's password, or the configured one with a
// name that is no user's. A name that is nobody's takes as long as one that is
// somebody's. What fails is counted, by the network it comes from and by its name, and
// too much of it is not looked at: an attempt costs more than any other request.
func (a *Admin) logIn(ctx *fasthttp.RequestCtx) {
	if foreign(&ctx.Request.Header) {
		a.fail(ctx, faultForeign)
		return
	}
	var body struct {
		Name     string `json:"name"`
		Password string `json:"password"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	name, proper := userName(body.Name)
	if !proper {
		name = actorName(body.Name)
	}
	from, now := networkOf(a.wary.of(ctx)), time.Now().UnixNano()
	if wait := a.entrance.attempt(from, name, now); wait > 0 {
		a.meter.guesses.Inc()
		a.wary.tell(from)
		a.failLogins(ctx, wait)
		return
	}
	user, _ := e.State().User(name)
	right, err := a.entrance.keeper.Check(user.Password, body.Password[:min(len(body.Password), passphrase.Most)])
	right = right && len(body.Password) <= passphrase.Most || user.Name == "" && a.isPassword(body.Password)
	switch {
	case err != nil:
		a.entrance.forgive(from, name)
		a.failHashing(ctx, err)
	case !right:
		a.meter.guesses.Inc()
		a.fail(ctx, faultLogin)
	default:
		a.entrance.forgive(from, name)
		recognize(ctx)
		a.welcome(ctx, name, user)
	}
}

// attempt counts one as if it had failed; with a wait it is not to be looked at.
func (t *entrance) attempt(from netip.Prefix, name string, now int64) (wait time.Duration) {
	ok, wait, _ := t.byNetwork.take(from, now)
	if !ok {
		return wait
	}
	if ok, wait, _ = t.byName.take(name, now); !ok {
		t.byNetwork.back(from)
		return wait
	}
	return 0
}

// forgive takes an attempt back.
func (t *entrance) forgive(from netip.Prefix, name string) {
	t.byNetwork.back(from)
	t.byName.back(name)
}

func (a *Admin) failLogins(ctx *fasthttp.RequestCtx, wait time.Duration) {
	a.fail(ctx, faultLogins)
	ctx.Response.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

func (a *Admin) failHashing(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, passphrase.ErrBusy) {
		a.fail(ctx, faultHashing)
		return
	}
	a.failWith(ctx, err)
}

// welcome answers with a session that has begun.
func (a *Admin) welcome(ctx *fasthttp.RequestCtx, name string, user state.User) {
	who := asker{name: name, role: user.Role, user: true}
	if user.Name == "" {
		who.role, who.user = market.RoleAdmin, false
	}
	var value string
	value, who.session = a.entrance.begin(name, user)
	a.setCookie(ctx, value, int(sessionLife.Seconds()))
	sendUnkept(ctx, a.appendAsker(nil, &who))
}

func (a *Admin) setCookie(ctx *fasthttp.RequestCtx, value string, seconds int) {
	var cookie fasthttp.Cookie
	cookie.SetKey(cookieName)
	cookie.SetValue(value)
	cookie.SetPath("/")
	cookie.SetSecure(true)
	cookie.SetHTTPOnly(true)
	cookie.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	if seconds > 0 {
		cookie.SetMaxAge(seconds)
	} else {
		cookie.SetExpire(fasthttp.CookieExpireDelete)
	}
	ctx.Response.Header.SetCookie(&cookie)
}

// sendUnkept answers with JSON that nobody on the way keeps.
func sendUnkept(ctx *fasthttp.RequestCtx, body []byte) {
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetBody(append(body, '\n'))
}

// session tells who asks.
func (a *Admin) session(ctx *fasthttp.RequestCtx) {
	who := askerOf(ctx)
	sendUnkept(ctx, a.appendAsker(nil, &who))
}

func (a *Admin) appendAsker(body []byte, who *asker) []byte {
	body = market.AppendJSONString(append(body, `{"name":`...), []byte(who.name))
	body = append(body, `,"role":"`+who.role.String()+`","by":`...)
	switch {
	case who.session != nil:
		body = append(body, `"session","csrf":"`+who.session.csrf+`","expires_at":`...)
		body = appendWhen(body, a.entrance.ends(who.session).UnixNano())
	case who.token != nil:
		body = appendWhen(append(body, `"token","expires_at":`...), who.token.Expires)
	default:
		body = append(body, `"password","expires_at":null`...)
	}
	return append(body, '}')
}

// appendWhen writes a time in seconds, and null for none.
func appendWhen(body []byte, at int64) []byte {
	if at == 0 {
		return append(body, "null"...)
	}
	return append(time.Unix(0, at).UTC().AppendFormat(append(body, '"'), time.RFC3339), '"')
}

// logOut ends the session by which it is asked, and the cookie.
func (a *Admin) logOut(ctx *fasthttp.RequestCtx) {
	if s := askerOf(ctx).session; s != nil {
		a.entrance.end(s)
		a.setCookie(ctx, "", 0)
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// userName is a user's name as it is kept: in small letters, since two users who
// differ by nothing else would be taken for one another. Not ok: it can be none's.
func userName(given string) (name string, ok bool) {
	name = strings.Map(smallLetter, given)
	if name == "" || len(name) > maxActor || strings.ContainsFunc(name, notInName) {
		return "", false
	}
	return name, strings.Trim(name, "._-@+") == name
}

// smallLetter is a letter of ASCII in small. Others are left as they are: that of the
// Kelvin sign would be a k.
func smallLetter(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-@+", r)
}
