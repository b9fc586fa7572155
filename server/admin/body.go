package admin

import (
	"github.com/valyala/fasthttp"

	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// bodyExpected is the name of a flag of requests that wait for permission to send their body
// (Expect: 100-continue). The flag becomes true once the head is accepted.
const bodyExpected = "body expected"

// decideExpectContinue decides about a request that waits for permission to send its body (Expect:
// 100-continue). It runs the handlers with the head alone. It returns StatusContinue if they
// want the body, or the status of the answer. So an unauthenticated client is rejected before
// it sends a body.
func (a *Admin) decideExpectContinue(ctx *fasthttp.RequestCtx) (status int) {
	ctx.SetUserValue(bodyExpected, false)
	a.answer(ctx)
	accepted := ctx.UserValue(bodyExpected) == true
	ctx.RemoveUserValue(bodyExpected)
	if accepted {
		return fasthttp.StatusContinue
	}
	return ctx.Response.StatusCode()
}

// allowOrRejectExpectedBody is called by handlers before they read the body. It returns true if the
// client still waits for permission to send it; the handler must then return. It has allowed
// the body, or rejected one over maxBytes with the error tooLarge.
func (a *Admin) allowOrRejectExpectedBody(ctx *fasthttp.RequestCtx, maxBytes int, tooLarge httperror.Error) (isRunBeforeBody bool) {
	switch {
	case ctx.UserValue(bodyExpected) == nil:
		return false
	case ctx.Request.Header.ContentLength() > maxBytes:
		a.sendError(ctx, tooLarge)
	default:
		ctx.SetUserValue(bodyExpected, true)
	}
	return true
}

// withBodyAndRecheckedCaller returns a handler that reads the request's body before it calls h. A
// body over maxBytes gets the error tooLarge. The caller's credential is checked again after the
// body has arrived.
func (a *Admin) withBodyAndRecheckedCaller(maxBytes int, tooLarge httperror.Error, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if a.allowOrRejectExpectedBody(ctx, maxBytes, tooLarge) {
			return
		}
		body, bad := request.ReadBody(ctx, nil, maxBytes)
		if bad == httperror.BodyTooLarge {
			bad = tooLarge
		}
		if bad.Status != 0 {
			a.sendError(ctx, bad)
			return
		}
		ctx.SetUserValue(payload.BodyRead, body)
		if gone := a.checkCallerStillValid(ctx); gone.Status != 0 {
			a.sendError(ctx, gone)
			return
		}
		h(ctx)
	}
}

// rejectConcurrentConfigChanges returns a handler that lets one request at a time into h, and answers 409 to
// others. It protects changes of the whole configuration.
func (a *Admin) rejectConcurrentConfigChanges(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !a.applying.TryLock() {
			a.sendError(ctx, errApplyUnderWay)
			return
		}
		defer a.applying.Unlock()
		h(ctx)
	}
}
