package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// guard lets through those who know the password; the others do not even learn
// what there is.
func (a *Admin) guard(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		switch {
		case !a.allowed(ctx):
		case foreign(&ctx.Request.Header):
			a.fail(ctx, faultForeign)
		default:
			h(ctx)
		}
	}
}

// allowed checks the password, in a time that does not depend on it.
func (a *Admin) allowed(ctx *fasthttp.RequestCtx) bool {
	user, password, ok := basicAuth(string(ctx.Request.Header.Peek("Authorization")))
	given := sha256.Sum256([]byte(password))
	if ok && !a.locked && subtle.ConstantTimeCompare(given[:], a.password[:]) == 1 {
		recognize(ctx)
		ctx.SetUserValue(askerKey, asker{name: actorName(user), role: market.RoleAdmin})
		return true
	}
	bad := faultAdminMissing
	if ok && !a.locked {
		bad = faultBadPassword
	}
	a.turnAway(ctx, bad)
	return false
}

// foreign tells whether a browser sends this for a page that is not this
// address's own. Browsers add the password to whatever a page makes them send;
// what only reads is of no use to the page, since it does not see the answer.
func foreign(header *fasthttp.RequestHeader) bool {
	if header.IsGet() || header.IsHead() {
		return false
	}
	switch string(header.Peek("Sec-Fetch-Site")) {
	case "", "same-origin", "none":
	default:
		return true
	}
	origin := string(header.Peek("Origin"))
	if origin == "" {
		return false
	}
	_, host, whole := strings.Cut(origin, "://")
	return !whole || !strings.EqualFold(host, string(header.Host()))
}

func basicAuth(header string) (user, password string, ok bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}
