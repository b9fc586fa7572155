package server

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"
)

// mostFailures is how many answers of 5xx a second the log tells of: when all of
// them are such, it is no help to fill a disk with it.
const mostFailures = 10

func newFailures() *rate.Limiter { return rate.NewLimiter(mostFailures, mostFailures) }

// refused tells in the log of an answer that is an error, under the id that the
// caller was given with it: at WARN where the exchange or a buyer is at fault, at
// DEBUG where the caller is, or is an operator, who reads the answer itself. Nothing
// that came with the request is told, not even its path as it was written.
func (m *Meter) refused(on route, answer *fasthttp.Response, elapsed int64) {
	logger, level, what := m.logger.Load(), slog.LevelDebug, "a request was refused"
	if answer.StatusCode() >= fasthttp.StatusInternalServerError {
		what = "a request failed"
		if on != routeAdmin {
			level = slog.LevelWarn
		}
	}
	ctx := context.Background()
	if !logger.Enabled(ctx, level) || level == slog.LevelWarn && !m.failures.Allow() {
		return
	}
	logger.LogAttrs(ctx, level, what,
		slog.String("request_id", string(answer.Header.Peek(headerRequestID))), slog.String("path", routeNames[on]),
		slog.Int("status", answer.StatusCode()), slog.String("code", codeIn(answer.Body())), slog.Float64("seconds", float64(elapsed)/1e9))
}

// codeIn is the code of an error's body, where it is one of ours.
func codeIn(body []byte) string {
	rest, ours := bytes.CutPrefix(body, []byte(`{"error":"`))
	code, _, whole := bytes.Cut(rest, []byte(`"`))
	if !ours || !whole {
		return ""
	}
	return string(code)
}
