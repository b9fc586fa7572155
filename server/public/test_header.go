package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// headerTest is the header by which a request declares its lead a test ("1" or "true"). The
// answer to a test has it too, so that no client takes a test for a real sale.
const headerTest = "X-Pingpost-Test"

// parseTestHeader reports whether the test header marks the request as a test. bad is set for a
// malformed or repeated header. The request is then rejected, because a lead that was meant as
// a test must not be sold.
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

// setAnswerTestHeaderIfTest adds the test header to the answer if the request or its supplier is for tests.
func (r *scratch) setAnswerTestHeaderIfTest(ctx *fasthttp.RequestCtx, supplier *market.Supplier) {
	if r.test || supplier.Test {
		ctx.Response.Header.Set(headerTest, "1")
	}
}
