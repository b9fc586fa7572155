package metrics

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// TestFailureLogIsLimited checks the limit of log lines about failures, and that
// refusals are logged at DEBUG only.
func TestFailureLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := NewMeter(func(string, error) {})
		m.SetLogger(slog.New(slog.NewTextHandler(&log, nil)))
		answer := func(on Route, status int) {
			var ctx fasthttp.RequestCtx
			httperror.Write(&ctx, httperror.NewRequestID(), httperror.New(status, "some", "Some."))
			m.CountAnswerAndLogError(on, &ctx.Response, 0)
		}
		for second := range 3 {
			for range 1000 {
				answer(RouteIngest, 503)
				answer(RouteIngest, 429)
				answer(RouteAdmin, 503)
			}
			if n := strings.Count(log.String(), "\n"); n != maxFailureLines*(second+1) {
				t.Errorf("after second %d: got %d lines in all", second, n)
			}
			time.Sleep(time.Second)
		}
		if strings.Contains(log.String(), "status=429") || strings.Contains(log.String(), "path=admin") || !strings.Contains(log.String(), `code=some`) {
			t.Errorf("%.500s", log.String())
		}
	})
}

func TestErrorCodeInBody(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"unauthorized","message":"…"}`: "unauthorized", `{"error":"cut`: "", `ok`: "", ``: "", `{"data":{"error":"x"}}`: "",
	} {
		if got := httperror.ErrorCodeInBody([]byte(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
