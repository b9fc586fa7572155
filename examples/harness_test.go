// Package examples tests that the examples sell leads as their pages say.
package examples_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/api/contract"
	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/exchange/explain"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

func TestMain(m *testing.M) { os.Exit(contract.RunTests(m)) }

const webhookSecret = "whsec_c2FuZGJveHNhbmRib3hzYW5kYm94"

// environment returns the value of an environment variable that a configuration names.
func environment(name string) (value string, ok bool) {
	if name == "SANDBOX_WEBHOOK_SECRET" {
		return webhookSecret, true
	}
	return "the-" + name, true
}

// secretOf returns the value of an environment variable.
func secretOf(name string) string {
	value, _ := environment(name)
	return value
}

// startExample starts the exchange of a configuration file with other texts: old and new ones
// in turn. Rate limiters are empty at a start, so the test sets rates that fill them at once.
func startExample(t *testing.T, file string, oldAndNew ...string) *exchange.Exchange {
	t.Helper()
	text := replaceTexts(t, string(must.Value(os.ReadFile(file))(t)), append(oldAndNew, "_rate: 1000", "_rate: 1000000")...)
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	x := must.Value(exchange.Start(path, exchange.Options{Env: environment, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		must.Succeed(t, x.Close())
	})
	return x
}

// replaceTexts replaces texts, old and new ones in turn. A missing one ends the test.
func replaceTexts(t *testing.T, text string, oldAndNew ...string) string {
	t.Helper()
	for i := 0; i < len(oldAndNew); i += 2 {
		if !strings.Contains(text, oldAndNew[i]) {
			t.Fatalf("the example does not contain %q", oldAndNew[i])
		}
		text = strings.ReplaceAll(text, oldAndNew[i], oldAndNew[i+1])
	}
	return text
}

// startBuyer starts a reference buyer.
func startBuyer(t *testing.T, options refbuyer.Options) *refbuyer.Buyer {
	t.Helper()
	buyer := must.Value(refbuyer.New(options))(t)
	served := make(chan error, 1)
	go func() { served <- buyer.Serve(t.Context()) }()
	t.Cleanup(func() {
		_ = buyer.Close()
		must.Succeed(t, <-served)
	})
	return buyer
}

// answer is the exchange's answer to a request.
type answer struct {
	status   int
	replayed bool
	body     string
}

// send sends a POST request with headers: names and values in turn. It repeats the request
// while a rate limiter answers 429.
func send(t *testing.T, x *exchange.Exchange, path, body string, headers ...string) answer {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		req := must.Value(http.NewRequest(http.MethodPost, "http://"+x.PublicAddress()+path, strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		must.Succeed(t, err)
		text := must.Value(io.ReadAll(res.Body))(t)
		res.Body.Close()
		if res.StatusCode != http.StatusTooManyRequests || time.Now().After(deadline) {
			return answer{res.StatusCode, res.Header.Get("Idempotent-Replayed") == "true", string(text)}
		}
	}
}

// decode decodes JSON, or ends the test.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// explainLead returns the exchange's explanation of a lead.
func explainLead(t *testing.T, x *exchange.Exchange, lead string) (explanation explain.Explanation) {
	t.Helper()
	id, ok := market.ParseLeadID(lead)
	if !ok {
		t.Fatalf("%q is no lead", lead)
	}
	decode(t, string(must.Value(x.ExplainLead(id))(t)), &explanation)
	return explanation
}
