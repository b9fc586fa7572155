package forward

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// ServeClients returns a handler for requests of clients. If this node is the leader, decide answers.
// Otherwise the leader does. A request that meets no leader is held until one decides about it, at most
// Options.Hold, and then gets a 503.
//
// maxKept is the greatest size in bytes of a body that is kept in memory, so that it can be sent again.
// Larger and chunked bodies are passed on while they arrive, and are sent once.
func (f *Forwarder) ServeClients(kind Kind, maxKept int, decide fasthttp.RequestHandler) fasthttp.RequestHandler {
	maxKept = min(maxKept, maxKeptBody)
	return func(ctx *fasthttp.RequestCtx) {
		r := clientRequest{f: f, ctx: ctx, kind: kind, decide: decide, budget: f.opt.Hold}
		r.body = keepBody(ctx, maxKept)
		r.serve()
		r.body.release()
	}
}

// ServeExpect returns a handler for requests that wait for permission to send their body (Expect:
// 100-continue). If this node is the leader, decide answers. Otherwise the client may send its body, and
// the leader decides about the whole request.
func (f *Forwarder) ServeExpect(kind Kind, decide func(*fasthttp.RequestCtx) int) func(*fasthttp.RequestCtx) int {
	return func(ctx *fasthttp.RequestCtx) int {
		connection.RenewWriteDeadlineForLibrary(ctx, writeTime)
		if f.IsLeader() {
			status := decide(ctx)
			if !httperror.MaySendAgain(ctx) {
				return status
			}
			resetForNextAttempt(ctx, kind)
		}
		return fasthttp.StatusContinue
	}
}

// clientRequest is a request of a client until its answer.
type clientRequest struct {
	f        *Forwarder
	ctx      *fasthttp.RequestCtx
	kind     Kind
	decide   fasthttp.RequestHandler
	body     *keptBody     // nil: the request has no body, or it cannot be sent again
	budget   time.Duration // how long the request may still wait for a leader
	sent     bool          // a part of a body that is not kept was read
	hasEvent bool          // the log has an event of the request: see httperror.WriteNextLeaderAnswers
}

// retryPause is the pause before the next attempt.
const retryPause = 10 * time.Millisecond

// serve answers the request.
func (r *clientRequest) serve() {
	for held := false; ; held = true {
		leader := r.f.opt.Leader()
		switch {
		case leader.Self:
			r.decide(r.ctx)
			if !httperror.MaySendAgain(r.ctx) {
				if r.refusesLoggedRequest(r.ctx.Response.StatusCode()) {
					r.answerUnavailable(Unknown)
					return
				}
				r.removeReplayMark()
				if held {
					r.f.opt.Count(r.kind, Answered)
				}
				return
			}
			r.hasEvent = r.hasEvent || httperror.NextLeaderAnswers(r.ctx)
			r.sent = r.sent || r.body == nil && r.ctx.RequestBodyStream() != nil
		case leader.ID != "":
			if bad := request.CheckHead(r.ctx); bad.Status != 0 {
				r.rejectUnread(bad)
				return
			}
			if r.send(leader) {
				return
			}
		}
		if r.sent || !r.wait() {
			r.answerUnavailable(NoLeader)
			return
		}
		r.reset()
	}
}

// removeReplayMark makes the answer the first one if an earlier leader decided about this request.
func (r *clientRequest) removeReplayMark() {
	if r.hasEvent {
		r.ctx.Response.Header.Del(httperror.HeaderReplayed)
	}
}

// refusesLoggedRequest reports whether the status is 401, 403 or 429 although the log has an event of the request.
// The client would think that the lead was refused. It gets a 503 instead.
func (r *clientRequest) refusesLoggedRequest(status int) bool {
	return r.hasEvent && (status == fasthttp.StatusUnauthorized || status == fasthttp.StatusForbidden || status == fasthttp.StatusTooManyRequests)
}

// wait waits for the next attempt. It returns false if the time for which the request is held is over.
func (r *clientRequest) wait() bool {
	if r.budget <= 0 {
		return false
	}
	began := time.Now()
	time.Sleep(min(retryPause, r.budget))
	r.budget -= time.Since(began)
	return true
}

// answerUnavailable answers 503 with Retry-After. It keeps a connection open only if the body was read.
func (r *clientRequest) answerUnavailable(outcome Outcome) {
	r.f.opt.Count(r.kind, outcome)
	r.reset()
	httperror.Write(r.ctx, httperror.NewRequestID(), httperror.Unavailable)
	if r.body == nil && r.ctx.RequestBodyStream() != nil {
		connection.CloseAfterAnswerDrainUnlessTimeout(r.ctx, httperror.Unavailable)
	}
}

// rejectUnread answers with the error bad and closes the connection, because the request was not read to
// its end.
func (r *clientRequest) rejectUnread(bad httperror.Error) {
	r.reset()
	httperror.Write(r.ctx, httperror.NewRequestID(), bad)
	connection.CloseAfterAnswerDrainUnlessTimeout(r.ctx, bad)
}

func (r *clientRequest) reset() {
	resetForNextAttempt(r.ctx, r.kind)
	r.body.rewind()
}

// resetForNextAttempt removes the traces of an attempt from the request: its answer and the values that
// its handlers stored.
func resetForNextAttempt(ctx *fasthttp.RequestCtx, kind Kind) {
	ctx.Request.ResetUserValues()
	ctx.Response.Reset()
	setContentTypeRule(ctx, kind)
}

// setContentTypeRule restores the setting of the server of this kind: only the admin server adds a
// content type to answers without one.
func setContentTypeRule(ctx *fasthttp.RequestCtx, kind Kind) {
	ctx.Response.Header.SetNoDefaultContentType(kind != Admin)
	if kind != Admin {
		ctx.Response.Header.DisableNormalizing()
	}
}
