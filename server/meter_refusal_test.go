package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

// journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// TestRefusalsAreFoundByTheirID: whoever is told an error can name it to the
// operator, who finds it in the log; and nothing of the person or of the secret that
// came with it.
func TestRefusalsAreFoundByTheirID(t *testing.T) {
	h := holding(t, func(o *engine.Options) { o.Ceiling = 500 * time.Millisecond })
	acme := h.token("acme", "")
	var log journal
	h.opt.Meter.tellTo(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	h.buyers.set(func() {
		h.buyers.sells = []market.PostResult{{Verdict: market.VerdictUnreached, Fault: market.FaultConnect}}
	})
	for _, row := range []struct {
		answer            *heard
		level, path, code string
	}{
		{h.call("/4155550132?email=ann@mail.test", "{}"), "DEBUG", "other", "not_found"},
		{h.ping("pp_secret", "k1", aPing), "DEBUG", "/v1/ping", "unauthorized"},
		{h.ping(acme, "k2", "{"), "DEBUG", "/v1/ping", "malformed_json"},
		{h.ping(acme, "k3", with(aPing, "4155550132", `{"ann@mail.test":1,"phone":"4155550132"}`)), "DEBUG", "/v1/ping", "invalid_payload"},
		{h.call("/oauth/token", `{"grant_type":"client_credentials","client_id":"ann@mail.test","client_secret":"pp_secret"}`), "DEBUG", "/oauth/token", "invalid_client"},
		{h.post(acme, "k4", h.won(acme, "a1")), "WARN", "/v1/post", "buyer_unavailable"},
	} {
		var said struct {
			Level, Path, Code string
			Status            int
		}
		found := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `"request_id":"`+row.answer.header.Get(headerRequestID)+`"`) {
				found++
				if err := json.Unmarshal([]byte(line), &said); err != nil {
					t.Fatal(err)
				}
			}
		}
		if found != 1 || said.Level != row.level || said.Path != row.path || said.Code != row.code || said.Status != row.answer.status {
			t.Errorf("%d %s: %d lines, %+v, want %s %s %s", row.answer.status, row.answer.body, found, said, row.level, row.path, row.code)
		}
	}
	for _, private := range []string{"4155550", "mail.test", "pp_", "canary", "Lee"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("the log has %q:\n%s", private, log.String())
		}
	}
	if n := strings.Count(log.String(), `"request_id"`); n != 6 {
		t.Errorf("%d lines, of which one is of an answer that is none of these:\n%s", n, log.String())
	}
}

// TestFailuresDoNotFillTheLog: so many are told of in a second; and refusals not at
// all, where nobody asks for them.
func TestFailuresDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := NewMeter(metrics.NewSet(), func(string, error) {})
		m.tellTo(slog.New(slog.NewTextHandler(&log, nil)))
		answer := func(on route, status int) {
			var ctx fasthttp.RequestCtx
			fail(&ctx, newRequestID(), fault{status: status, code: "some", message: "Some."})
			m.request(on, &ctx.Response, 0)
		}
		for second := range 3 {
			for range 1000 {
				answer(routeIngest, 503)
				answer(routeIngest, 429)
				answer(routeAdmin, 503)
			}
			if n := strings.Count(log.String(), "\n"); n != mostFailures*(second+1) {
				t.Errorf("after second %d: %d lines", second, n)
			}
			time.Sleep(time.Second)
		}
		if strings.Contains(log.String(), "status=429") || strings.Contains(log.String(), "path=admin") || !strings.Contains(log.String(), `code=some`) {
			t.Errorf("%.500s", log.String())
		}
	})
}

func TestCodeIn(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"unauthorized","message":"…"}`: "unauthorized", `{"error":"cut`: "", `ok`: "", ``: "", `{"data":{"error":"x"}}`: "",
	} {
		if got := codeIn([]byte(body)); got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}
