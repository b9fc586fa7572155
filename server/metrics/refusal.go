package metrics

import (
	"context"
	"log/slog"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/server/httperror"
)

// maxFailureLines is the most log lines per second about answers of 5xx, so that an outage
// does not fill the disk.
const maxFailureLines = 10

func newRefusalLogLimiter() *rate.Limiter { return rate.NewLimiter(maxFailureLines, maxFailureLines) }

// logRefusal logs an error answer under its request id: at WARN if the exchange or a buyer
// is at fault, at DEBUG if the client is at fault or is an operator, who reads the answer.
// It logs no data of the request, not even the path as it was sent.
func (m *Meter) logRefusal(on Route, answer *fasthttp.Response, elapsed int64) {
	logger, level, what := m.logger.Load(), slog.LevelDebug, "a request was refused"
	if answer.StatusCode() >= fasthttp.StatusInternalServerError {
		what = "a request failed"
		if on != RouteAdmin {
			level = slog.LevelWarn
		}
	}
	ctx := context.Background()
	if !logger.Enabled(ctx, level) || level == slog.LevelWarn && !m.failures.Allow() {
		return
	}
	logger.LogAttrs(ctx, level, what,
		slog.String("request_id", string(answer.Header.Peek(httperror.HeaderRequestID))), slog.String("path", RouteNames[on]),
		slog.Int("status", answer.StatusCode()), slog.String("code", httperror.ErrorCodeInBody(answer.Body())), slog.Float64("seconds", float64(elapsed)/1e9))
}
