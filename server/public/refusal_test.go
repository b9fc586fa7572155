package public

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// The log contains each error under its request id, and no personal data or secret.
func TestErrorIsLoggedUnderItsRequestID(t *testing.T) {
	h := newAuctionExchange(t, func(o *engine.Options) { o.Ceiling = firstAttemptTime })
	acme := h.requestToken("acme", "")
	var log servertest.LogBuffer
	h.opt.Meter.SetLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	h.buyers.update(func() {
		h.buyers.postResults = []market.BuyerPostResult{{Verdict: market.VerdictNotSent, Fault: market.FaultConnect, RetryAfter: firstAttemptTime}}
	})
	for _, row := range []struct {
		answer            *apiAnswer
		level, path, code string
	}{
		{h.postJSON("/4155550132?email=ann@mail.test", "{}"), "DEBUG", "other", "not_found"},
		{h.ping("pp_secret", "k1", pingBody), "DEBUG", "/v1/ping", "unauthorized"},
		{h.ping(acme, "k2", "{"), "DEBUG", "/v1/ping", "malformed_json"},
		{h.ping(acme, "k3", withMembers(pingBody, "4155550132", `{"ann@mail.test":1,"phone":"4155550132"}`)), "DEBUG", "/v1/ping", "invalid_payload"},
		{h.postJSON("/oauth/token", `{"grant_type":"client_credentials","client_id":"ann@mail.test","client_secret":"pp_secret"}`), "DEBUG", "/oauth/token", "invalid_client"},
		{h.post(acme, "k4", h.postBodyForNewBid(acme, "a1")), "WARN", "/v1/post", "buyer_unavailable"},
	} {
		var got struct {
			Level, Path, Code string
			Status            int
		}
		found := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `"request_id":"`+row.answer.header.Get(httperror.HeaderRequestID)+`"`) {
				found++
				must.Succeed(t, json.Unmarshal([]byte(line), &got))
			}
		}
		if found != 1 || got.Level != row.level || got.Path != row.path || got.Code != row.code || got.Status != row.answer.status {
			t.Errorf("answer %d %s: got %d log lines, %+v, want %s %s %s", row.answer.status, row.answer.body, found, got, row.level, row.path, row.code)
		}
	}
	for _, private := range []string{"4155550", "mail.test", "pp_", "canary", "Lee"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("the log has %q:\n%s", private, log.String())
		}
	}
	if n := strings.Count(log.String(), `"request_id"`); n != 6 {
		t.Errorf("got %d log lines, want 6, one for each error:\n%s", n, log.String())
	}
}
