package request

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// IsCrossOrigin reports whether a browser sends a changing request on behalf of a page of
// another origin. Browsers add the password to any request that a page makes. GET and HEAD
// pass, because the page cannot read the answer.
func IsCrossOrigin(header *fasthttp.RequestHeader) bool {
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
	return !whole || !strings.EqualFold(host, string(TargetHost(header)))
}
