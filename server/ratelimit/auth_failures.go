package ratelimit

import (
	"log/slog"
	"net/netip"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/server/clientaddr"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
)

var errTooManyGuesses = httperror.New(429, errcode.RateLimited, "Too many wrong credentials came from this address. Send a valid one, which is accepted at once, or wait for the time in Retry-After.")

// AuthFailureLimiter limits requests with wrong credentials per client network. Above the
// limit the answer is 429 instead of 401. It never limits a valid credential. A request without
// a credential does not count, because browsers and new integrations start that way.
//
// Checks of operators' passwords have further limits, in package admin.
type AuthFailureLimiter struct {
	clientaddr.Resolver
	buckets  *TokenBuckets[netip.Prefix]
	rate     int
	meter    *metrics.Meter
	logger   *slog.Logger
	throttle metrics.LogThrottle
}

func NewAuthFailureLimiter(perSecond int, meter *metrics.Meter, logger *slog.Logger) *AuthFailureLimiter {
	return &AuthFailureLimiter{buckets: NewNetworkBuckets(perSecond), rate: perSecond, meter: meter, logger: logger}
}

// CountFailureAndSelectError returns the error with which to answer a failed authentication at the
// time nowNanos. That is failure itself, or a 429 if the client's network has sent too many wrong
// credentials. A missing credential does not count.
func (w *AuthFailureLimiter) CountFailureAndSelectError(ctx *fasthttp.RequestCtx, failure httperror.Error, nowNanos int64) httperror.Error {
	if !failure.WrongCredential {
		return failure
	}
	w.meter.CountWrongCredential()
	from := clientaddr.NetworkForLimits(w.ClientAddress(ctx))
	allowed, wait, end := w.buckets.Take(from, nowNanos)
	if allowed {
		return failure
	}
	ctx.Response.Header.Del(httperror.HeaderChallenge)
	httperror.SetRateLimitHeaders(&ctx.Response.Header, w.rate, 0, float64(end)/1e9)
	w.LogTooManyFailures(from)
	return errTooManyGuesses.WithRetryAfter(wait)
}

// LogTooManyFailures logs, at most once a minute for all networks together, that a network has sent
// too many wrong credentials.
// The network comes from the connection or a trusted proxy, so the line contains no text of the
// client.
func (w *AuthFailureLimiter) LogTooManyFailures(network netip.Prefix) {
	if count, due := w.throttle.CountEvent(); due {
		w.logger.Warn("wrong credentials from one network exceed the limit and are answered 429; count includes other networks above their limit; valid API keys and tokens still work",
			"from", network.String(), "count", count)
	}
}
