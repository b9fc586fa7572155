package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// headerTest marks a request as a test: 1 or true. The answer to a test carries it too, so
// that no client takes a test lead for a real one.
const headerTest = "X-Pingpost-Test"

// parseTestHeader parses the header. A malformed value is rejected, because a lead that was
// meant as a test must not be sold.
func parseTestHeader(header *fasthttp.RequestHeader) (test, bad bool) {
	lines := header.PeekAll(headerTest)
	if len(lines) == 0 {
		return false, false
	}
	if len(lines) > 1 {
		return false, true
	}
	switch string(lines[0]) {
	case "1", "true":
		return true, false
	case "0", "false":
		return false, false
	}
	return false, true
}

// setTestHeader marks the answer to a test.
func (r *scratch) setTestHeader(ctx *fasthttp.RequestCtx, of *market.Supplier) {
	if r.test || of.Test {
		ctx.Response.Header.Set(headerTest, "1")
	}
}
