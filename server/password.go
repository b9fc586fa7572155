package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/valyala/fasthttp"
)

// guard lets through those who know the password; the others do not even learn
// what there is.
func (a *Admin) guard(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if a.allowed(ctx) {
			h(ctx)
		}
	}
}

// allowed checks the password, in a time that does not depend on it.
func (a *Admin) allowed(ctx *fasthttp.RequestCtx) bool {
	_, password, ok := basicAuth(string(ctx.Request.Header.Peek("Authorization")))
	given := sha256.Sum256([]byte(password))
	if ok && !a.locked && subtle.ConstantTimeCompare(given[:], a.password[:]) == 1 {
		return true
	}
	a.fail(ctx, faultAdminMissing)
	ctx.Response.Header.Set("WWW-Authenticate", `Basic realm="pingpost"`)
	return false
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
