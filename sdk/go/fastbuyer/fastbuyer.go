// Package fastbuyer serves a [buyer.Buyer] with fasthttp. It is separate so that other programs
// do not link fasthttp.
package fastbuyer

import (
	"context"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/sdk/go/buyer"
)

// Handler serves fasthttp. The endpoint's paths are prefix followed by /v1/ping and /v1/post;
// prefix may be "". The server's MaxRequestBodySize should be larger than buyer.MaxBody, as by
// default; larger bodies then get an error in the usual format.
func Handler(b *buyer.Buyer, prefix string) fasthttp.RequestHandler {
	prefix = strings.TrimRight(prefix, "/")
	return func(r *fasthttp.RequestCtx) {
		// fasthttp reuses a RequestCtx after the request, and its context ends only with the
		// server. Data that outlives the request must be copied.
		path, below := strings.CutPrefix(string(r.Path()), prefix)
		if !below {
			path = ""
		}
		answer := b.Answer(context.Background(), buyer.Request{
			Method: string(r.Method()), Path: path,
			Authorization: string(r.Request.Header.Peek("Authorization")),
			APIKey:        string(r.Request.Header.Peek("X-Api-Key")),
			ContentType:   string(r.Request.Header.ContentType()),
			Key:           string(r.Request.Header.Peek("Idempotency-Key")),
			RequestID:     string(r.Request.Header.Peek("X-Request-Id")),
			Body:          r.PostBody(),
		})
		r.SetStatusCode(answer.Status)
		r.SetContentType("application/json")
		header := &r.Response.Header
		header.Set("X-Request-Id", answer.RequestID)
		if answer.Allow != "" {
			header.Set("Allow", answer.Allow)
		}
		if answer.Challenge != "" {
			header.Set("WWW-Authenticate", answer.Challenge)
		}
		r.SetBody(answer.Body)
	}
}
