package server

import (
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

var faultGuesses = fault{429, errcode.RateLimited, "Too many wrong credentials come from this address. Send a right one, which is taken at once, or wait for the time in Retry-After."}

// wary answers those who show a wrong credential. A request without one guesses
// nothing and is always told so: it is how browsers and new integrations ask.
type wary struct {
	origins
	strikes *strikes[netip.Prefix]
	rate    int
	meter   *Meter
	logger  *slog.Logger
	over    rarely
}

func newWary(perSecond int, meter *Meter, logger *slog.Logger) *wary {
	return &wary{strikes: newStrikes(perSecond), rate: perSecond, meter: meter, logger: logger}
}

// isGuess tells whether it is a credential that was wrong.
func (f fault) isGuess() bool {
	switch f {
	case faultBadKey, faultBadBearer, faultClientUnknown, faultBadPassword, faultBadAPIToken:
		return true
	}
	return false
}

// judge is what a wrong credential is answered with, at now: what is wrong with it,
// or that there were too many of them. Other faults stay what they are. The headers
// of a limit are written already.
func (w *wary) judge(ctx *fasthttp.RequestCtx, bad fault, now int64) fault {
	if !bad.isGuess() {
		return bad
	}
	w.meter.guesses.Inc()
	from := networkOf(w.of(ctx))
	allowed, wait, end := w.strikes.take(from, now)
	if allowed {
		return bad
	}
	header := &ctx.Response.Header
	header.Del(headerChallenge)
	var digits [20]byte
	header.SetBytesV("X-RateLimit-Limit", strconv.AppendInt(digits[:0], int64(w.rate), 10))
	header.SetBytesV("X-RateLimit-Remaining", strconv.AppendInt(digits[:0], 0, 10))
	header.SetBytesV("X-RateLimit-Reset", strconv.AppendInt(digits[:0], int64(math.Ceil(float64(end)/1e9)), 10))
	header.SetBytesV("Retry-After", strconv.AppendInt(digits[:0], int64(math.Ceil(wait.Seconds())), 10))
	w.tell(from)
	return faultGuesses
}

// tell warns of guesses, once a minute. The network is read from the connection or
// from a trusted proxy, as an address: nothing that a stranger wrote is told.
func (w *wary) tell(from netip.Prefix) {
	if count, due := w.over.again(); due {
		w.logger.Warn("wrong credentials come from one network faster than the limit; they are answered 429, and right ones as ever",
			"from", from.String(), "count", count)
	}
}

// turnAway answers a request whose credential is missing, wrong, or opens something
// else.
func (s *Server) turnAway(ctx *fasthttp.RequestCtx, id market.RequestID, bad fault) {
	fail(ctx, id, s.wary.judge(ctx, bad, s.clock.Now()))
}

// turnAway is the same at the operators' address, where a wrong password costs the
// connection as well.
func (a *Admin) turnAway(ctx *fasthttp.RequestCtx, bad fault) {
	ctx.Response.Header.Del("Allow")
	bad = a.wary.judge(ctx, bad, time.Now().UnixNano())
	a.fail(ctx, bad)
	if bad.status == fasthttp.StatusUnauthorized && !fromDashboard(ctx) {
		ctx.Response.Header.Set(headerChallenge, challengeBasic)
	}
	if bad != faultAdminMissing && bad != faultSessionEnded {
		ctx.SetConnectionClose()
	}
}
