package admin

import (
	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
	"pingpost/server/request"
)

// bodyRead is the user value that holds the body, once it is read.
const bodyRead = "body"

// bodyExpected is the user value of a request whose client waits with the body. It is true
// once the head is accepted.
const bodyExpected = "body expected"

// expectContinue answers a client that waits with its body (Expect: 100-continue): with
// StatusContinue, or with the status of an answer that the head alone decides. So an
// unauthenticated client is rejected before it sends a body.
func (a *Admin) expectContinue(ctx *fasthttp.RequestCtx) (status int) {
	ctx.SetUserValue(bodyExpected, false)
	a.answer(ctx)
	accepted := ctx.UserValue(bodyExpected) == true
	ctx.RemoveUserValue(bodyExpected)
	if accepted {
		return fasthttp.StatusContinue
	}
	return ctx.Response.StatusCode()
}

// handleExpectedBody reports whether the client waits with the body. It then accepts the head, or
// rejects a body over the limit.
func (a *Admin) handleExpectedBody(ctx *fasthttp.RequestCtx, limit int, tooLarge httperror.Error) bool {
	switch {
	case ctx.UserValue(bodyExpected) == nil:
		return false
	case ctx.Request.Header.ContentLength() > limit:
		a.sendError(ctx, tooLarge)
	default:
		ctx.SetUserValue(bodyExpected, true)
	}
	return true
}

// withBody reads a body of at most limit bytes before it calls the handler.
func (a *Admin) withBody(limit int, tooLarge httperror.Error, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if a.handleExpectedBody(ctx, limit, tooLarge) {
			return
		}
		body, bad := request.ReadBody(ctx, nil, limit)
		if bad == httperror.BodyTooLarge {
			bad = tooLarge
		}
		if bad.Status != 0 {
			a.sendError(ctx, bad)
			return
		}
		ctx.SetUserValue(bodyRead, body)
		if gone := a.checkStillValid(ctx); gone.Status != 0 {
			a.sendError(ctx, gone)
			return
		}
		h(ctx)
	}
}

func bodyOf(ctx *fasthttp.RequestCtx) []byte {
	body, _ := ctx.UserValue(bodyRead).([]byte)
	return body
}

// rejectConcurrent answers 409 while another request is in the handler.
func (a *Admin) rejectConcurrent(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !a.applying.TryLock() {
			a.sendError(ctx, errApplyUnderWay)
			return
		}
		defer a.applying.Unlock()
		h(ctx)
	}
}
