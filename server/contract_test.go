package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/api/contract"
)

// contracted is a client's way out on which every exchange is held against the OpenAPI document of
// its address.
func contracted(t testing.TB) *contract.Transport {
	return &contract.Transport{Base: new(http.Transport), Else: contract.Own(), Tell: func(err error) { t.Error(err) }}
}

// hold holds a request and its answer against the document. It is for those that went
// over no connection of net/http.
func hold(t testing.TB, q *contract.Request, a *contract.Answer) {
	t.Helper()
	c := contract.Of(q.Path)
	if c == nil {
		return
	}
	if err := c.Check(q, a); err != nil {
		t.Error(err)
	}
}

// holdContext is hold for what went over no connection at all. An answer that is still
// to be read from a stream is passed over: it is the test's to read.
func holdContext(t testing.TB, ctx *fasthttp.RequestCtx, body []byte) {
	t.Helper()
	if ctx.Response.IsBodyStream() {
		return
	}
	q := &contract.Request{Method: string(ctx.Method()), Header: http.Header{}, Body: body}
	q.Path, _, _ = strings.Cut(string(ctx.Request.Header.RequestURI()), "?")
	for name, value := range ctx.Request.Header.All() {
		q.Header.Add(string(name), string(value))
	}
	a := &contract.Answer{Status: ctx.Response.StatusCode(), Header: http.Header{}, Body: ctx.Response.Body()}
	for name, value := range ctx.Response.Header.All() {
		a.Header.Add(string(name), string(value))
	}
	hold(t, q, a)
}
