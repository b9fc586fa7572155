package metrics

import (
	"context"
	"log/slog"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/server/httperror"
)

// maxFailureLines is the greatest number of log lines per second about 5xx answers of the public
// API, so that an outage does not fill the disk.
const maxFailureLines = 10

func newPublicAPI5xxLogLimiter() *rate.Limiter {
	return rate.NewLimiter(maxFailureLines, maxFailureLines)
}

// logErrorAnswer logs an error answer with its request id. The level is WARN for a 5xx of the
// public API, and DEBUG for clients' mistakes and for operators, who read the answer
// themselves. It logs no data of the request, not even the path as sent.
func (m *Meter) logErrorAnswer(requestRoute Route, answer *fasthttp.Response, elapsedNanos int64) {
	logger, level, what := m.logger.Load(), slog.LevelDebug, "a request was refused"
	if answer.StatusCode() >= fasthttp.StatusInternalServerError {
		what = "a request failed"
		if requestRoute != RouteAdmin {
			level = slog.LevelWarn
		}
	}
	ctx := context.Background()
	if !logger.Enabled(ctx, level) || level == slog.LevelWarn && !m.failures.Allow() {
		return
	}
	logger.LogAttrs(ctx, level, what,
		slog.String("request_id", string(answer.Header.Peek(httperror.HeaderRequestID))), slog.String("path", RouteNames[requestRoute]),
		slog.Int("status", answer.StatusCode()), slog.String("code", httperror.ErrorCodeInBody(answer.Body())), slog.Float64("seconds", float64(elapsedNanos)/1e9))
}
