package server

import (
	"encoding/base64"
	"strings"

	"github.com/valyala/fasthttp"
)

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
