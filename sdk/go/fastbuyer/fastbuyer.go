// Package fastbuyer serves a [buyer.Buyer] by fasthttp. It is a package of its own, so that
// who does not use fasthttp does not link it.
package fastbuyer

import (
	"context"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/sdk/go/buyer"
)

// Handler answers by fasthttp. The endpoint's paths are prefix followed by /v1/ping and
// /v1/post; prefix is "" at the top. The server's MaxRequestBodySize should be more than
// buyer.MaxBody, as it is by default, for the answers to larger bodies to have their form.
func Handler(b *buyer.Buyer, prefix string) fasthttp.RequestHandler {
	prefix = strings.TrimRight(prefix, "/")
	return func(r *fasthttp.RequestCtx) {
		// A RequestCtx ends with its server and not with its request, and is used again. What
		// outlives the request has to be its own.
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
