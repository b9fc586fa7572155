package server

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
)

// asker is who asks at the operators' address.
type asker struct {
	name    string // a user's; beside the configured password whatever was given
	role    market.Role
	user    bool            // there is a user of this name, who asks
	session *session        // by which it was let in
	token   *state.APIToken // by which it was let in
}

// askerKey is the request's value that holds its asker, once it is known.
const askerKey = "asker"

func askerOf(ctx *fasthttp.RequestCtx) asker {
	who, _ := ctx.UserValue(askerKey).(asker)
	return who
}

// actorOf is who asks, as facts and the log's readers know them; empty where nobody
// has been let in.
func actorOf(ctx *fasthttp.RequestCtx) string { return askerOf(ctx).name }

// roleOf is what who asks may do; none where nobody has been let in.
func roleOf(ctx *fasthttp.RequestCtx) market.Role { return askerOf(ctx).role }

var (
	faultBadAPIToken  = fault{401, errcode.Unauthorized, "The API token is not known, or no longer good. Make a new one."}
	faultSessionEnded = fault{401, errcode.Unauthorized, "The session has ended: it was idle or old, or the account was changed. Log in again."}
	faultForgery      = fault{403, errcode.Forbidden, "A request with a session that changes something carries the session's csrf in X-CSRF-Token. Log in again to hear it."}
)

// route adds a path for those who have the role that it needs.
func (a *Admin) route(routes *router.Router, method, path string, h fasthttp.RequestHandler) {
	routes.Handle(method, path, a.guard(roleFor(method, path), a.ending(method, path, h)))
}

// guard lets through those who show who they are and have the role; strangers do not
// even learn what there is.
func (a *Admin) guard(need market.Role, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	short := fault{403, errcode.Forbidden, fmt.Sprintf("This needs the role %s, which is not yours. Ask an admin.", need)}
	return func(ctx *fasthttp.RequestCtx) {
		who, bad := a.ask(ctx)
		switch {
		case bad.status != 0:
			a.turnAway(ctx, bad)
			return
		case foreign(&ctx.Request.Header):
			bad = faultForeign
		case who.session != nil && !who.session.vouched(&ctx.Request.Header):
			bad = faultForgery
		case who.role < need:
			bad = short
		}
		recognize(ctx)
		if bad.status != 0 {
			ctx.Response.Header.Del("Allow")
			a.fail(ctx, bad)
			return
		}
		ctx.SetUserValue(askerKey, who)
		h(ctx)
	}
}

// ask finds out who asks. The first that is good counts: the session's cookie, a
// personal API token, the configured password. Else the last of them says what is
// wrong.
func (a *Admin) ask(ctx *fasthttp.RequestCtx) (who asker, bad fault) {
	bad = faultAdminMissing
	if cookie := ctx.Request.Header.Cookie(cookieName); len(cookie) > 0 {
		if who, ok := a.ofSession(cookie); ok {
			return who, fault{}
		}
		bad = faultSessionEnded
	}
	header := ctx.Request.Header.Peek("Authorization")
	scheme, value, _ := bytes.Cut(header, []byte(" "))
	value = bytes.TrimSpace(value)
	if bytes.EqualFold(scheme, []byte("Bearer")) && bytes.HasPrefix(value, []byte(apiTokenPrefix)) {
		if who, ok := a.ofToken(value); ok {
			return who, fault{}
		}
		return asker{}, faultBadAPIToken
	}
	user, password, ok := basicAuth(string(header))
	switch {
	case !ok || a.locked:
		return asker{}, bad
	case !a.isPassword(password):
		return asker{}, faultBadPassword
	}
	return asker{name: actorName(user), role: market.RoleAdmin}, fault{}
}

// isPassword tells whether this is the configured password, in a time that does not
// depend on it.
func (a *Admin) isPassword(password string) bool {
	given := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(given[:], a.password[:]) == 1 && !a.locked
}

// ofToken finds who has a personal API token. It does no more than the token, and no
// more than its user.
func (a *Admin) ofToken(value []byte) (asker, bool) {
	e, now := a.operator.Engine(), time.Now().UnixNano()
	if e == nil {
		return asker{}, false
	}
	token, user, ok := e.State().APIToken(a.operator.Tokens().HashPersonal(value))
	if !ok || token.Ended(now) || user.Name == "" {
		return asker{}, false
	}
	a.entrance.sawToken(&token, now)
	return asker{name: user.Name, role: min(token.Role, user.Role), user: true, token: &token}, true
}

// stillIn tells whether who has been let in would be again.
func (a *Admin) stillIn(who *asker) bool {
	if who.session != nil && !a.entrance.has(who.session) {
		return false
	}
	if !who.user {
		return true
	}
	e := a.operator.Engine()
	if e == nil {
		return false
	}
	if who.session != nil {
		now, ok := e.State().User(who.name)
		return ok && now == who.session.user
	}
	_, _, ok := e.State().APIToken(who.token.Hash)
	return ok && !who.token.Ended(time.Now().UnixNano())
}

// gone judges who has been let in once more: a body may take its time to arrive, and
// nothing is done for an account that ended meanwhile. No fault: it is still in.
func (a *Admin) gone(ctx *fasthttp.RequestCtx) fault {
	who := askerOf(ctx)
	if a.stillIn(&who) {
		return fault{}
	}
	return who.ended()
}

// ended is what who was let in hears once it would not be any more.
func (who *asker) ended() fault {
	if who.token != nil {
		return faultBadAPIToken
	}
	return faultSessionEnded
}

// ofSession finds whose session a cookie is of. It ends with what its user was when it
// began.
func (a *Admin) ofSession(cookie []byte) (asker, bool) {
	s := a.entrance.find(cookie)
	if s == nil {
		return asker{}, false
	}
	if s.user.Name == "" {
		return asker{name: s.name, role: market.RoleAdmin, session: s}, true
	}
	e := a.operator.Engine()
	if e == nil {
		return asker{}, false
	}
	if now, ok := e.State().User(s.user.Name); !ok || now != s.user {
		a.entrance.end(s)
		return asker{}, false
	}
	return asker{name: s.name, role: s.user.Role, user: true, session: s}, true
}

// fromDashboard tells whether the operators' page asks, which has its own way to say
// that one has to log in: a challenge would have the browser ask as well.
func fromDashboard(ctx *fasthttp.RequestCtx) bool {
	return string(ctx.Request.Header.Peek("X-Requested-With")) == "dashboard"
}

const (
	maxActor = 64         // bytes of an operator's name
	nameless = "operator" // who gives the configured password and no name
)

// actorName is the name that somebody gives beside the configured password, cut to
// what a fact keeps: it proves nothing, and says who of those who know it that was.
func actorName(given string) string {
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
		return nameless
	}
	return name
}
