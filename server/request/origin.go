package request

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// IsCrossOriginChangingRequest reports whether a page of another origin made a browser send this changing
// request. A browser adds the password that it stores for this server to requests of any page. The
// result is false for GET and HEAD, because the other page cannot read their answers.
func IsCrossOriginChangingRequest(header *fasthttp.RequestHeader) bool {
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
