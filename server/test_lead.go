package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// headerTest says that what is sent is a test: 1 or true. The answer to one that
// is taken as a test has it too, so that nobody takes a lead in earnest for one.
const headerTest = "X-Pingpost-Test"

// testOf reads the header. Bad: it says neither yes nor no. That is refused, since
// a lead that was meant as a test must not be sold.
func testOf(header *fasthttp.RequestHeader) (test, bad bool) {
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

// tellTest says in the answer that the request is a test.
func (r *room) tellTest(ctx *fasthttp.RequestCtx, of *market.Supplier) {
	if r.test || of.Test {
		ctx.Response.Header.Set(headerTest, "1")
	}
}
