package server

import "github.com/valyala/fasthttp"

// bodyRead is the request's value that holds its body, once it was read.
const bodyRead = "body"

// withBody reads a body of at most limit bytes before the handler is called.
func (a *Admin) withBody(limit int, over fault, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		body, bad := readBody(ctx, nil, limit)
		if bad == faultTooLarge {
			bad = over
		}
		if bad.status != 0 {
			a.fail(ctx, bad)
			return
		}
		ctx.SetUserValue(bodyRead, body)
		if gone := a.gone(ctx); gone.status != 0 {
			a.fail(ctx, gone)
			return
		}
		h(ctx)
	}
}

func bodyOf(ctx *fasthttp.RequestCtx) []byte {
	body, _ := ctx.UserValue(bodyRead).([]byte)
	return body
}

// alone lets one request in at a time; another is told so at once.
func (a *Admin) alone(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !a.applying.TryLock() {
			a.fail(ctx, faultApplying)
			return
		}
		defer a.applying.Unlock()
		h(ctx)
	}
}
