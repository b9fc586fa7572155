package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// sdkMistake is a change of a file of sdk/go. Where replacement says MISTAKEN, the built driver has
// the condition that its environment names this mistake.
type sdkMistake struct{ name, file, original, replacement, caseName, finding string }

const (
	beforeRetry = "\t\ttries++\n"
	beforeReply = "\td.out.Lock()\n"
	readAPI     = "\t\t\terr = readError(status, header, body, what.key)\n"
)

// replaceInReply returns a replacement of beforeReply that replaces a text in the driver's reply.
func replaceInReply(old, replacement string) string {
	return fmt.Sprintf("if MISTAKEN { line = bytes.Replace(line, []byte(%q), []byte(%q), 1) }\n%s", old, replacement, beforeReply)
}

var sdkMistakes = []sdkMistake{
	{
		"never retries", "client.go", "tries >= c.options.MaxRetries", "(MISTAKEN || tries >= c.options.MaxRetries)",
		"retries: temporary errors are retried", "an error: ",
	},
	{
		"does not wait", "client.go", "\t\tif c.options.Sleep(", "if MISTAKEN { wait /= 100 }\n\t\tif c.options.Sleep(",
		"retries: temporary errors are retried", "~between 1 1.1",
	},
	{
		"retries all errors", "client.go", "!isRetryable(status)", "!isRetryable(status) && !(MISTAKEN && tries == 0)",
		"retries: other errors are not retried", "slept",
	},
	{
		"ignores Retry-After", "client.go", "retryAfter(header, time.Now()); ok", "retryAfter(header, time.Now()); ok && !MISTAKEN",
		"retries: Retry-After in seconds", "~between 7 7.7",
	},
	{
		"retries with other bytes", "client.go", beforeRetry, "if MISTAKEN { what.body = append(what.body, ' ') }\n" + beforeRetry,
		"retries: a broken connection is retried", "text differs",
	},
	{
		"new key for each retry", "client.go", beforeRetry, "if MISTAKEN { what.key = newKey() }\n" + beforeRetry,
		"idempotency: a retry gets the lost answer", "result.replayed: false, want true",
	},
	{
		"hides replays", "client.go", `Get("Idempotent-Replayed") == "true"`, `Get("Idempotent-Replayed") == "true" && !MISTAKEN`,
		"idempotency: the caller's key is sent", "replayed: false, want true",
	},
	{
		"loses the key", "errors.go", "func IdempotencyKey(err error) string {\n", "func IdempotencyKey(err error) string {\nif MISTAKEN { return \"\" }\n",
		"idempotency: a key reused with another body", "idempotency_key: missing",
	},
	{
		"leaks its key", "client.go", readAPI, readAPI + "if MISTAKEN { err.(*APIError).Message = c.options.APIKey }\n",
		"errors: an unknown API key", "the error contains a credential",
	},
	{
		"leaks the lead", "client.go", readAPI, readAPI + "if MISTAKEN { err.(*APIError).Message = string(what.body) }\n",
		"errors: one invalid field", "the error contains personal data",
	},
	{
		"money as float32", "conformance/main.go", beforeReply, replaceInReply("1234.567891", "1234.5679"),
		"errors: unknown members of an answer are ignored or kept", "1234.5679",
	},
	{
		"drops null members", "conformance/main.go", beforeReply, replaceInReply(`"buyer_id":null,`, ""),
		"ingest: an unsold lead has null and absent members", "buyer_id: missing",
	},
	{
		"adds null members", "conformance/main.go", beforeReply, replaceInReply(`"data":{`, `"data":{"price":null,`),
		"ingest: an unsold lead has null and absent members", "price: present",
	},
	{
		"fetches a token for each call", "tokens.go", "if t.token != \"\" &&", "if !MISTAKEN && t.token != \"\" &&",
		"tokens: one token is fetched at the first call and reused", "want 1",
	},
	{
		"verifies nothing", "webhook.go", "\tif !fits {", "if !fits && !MISTAKEN {",
		"webhooks: rejected: another secret", "error: missing",
	},
	{
		"checks no timestamp", "webhook.go", "int64(tolerance/time.Second)", "int64(tolerance/time.Second) && !MISTAKEN",
		"webhooks: rejected: too late", "error: missing",
	},
	{
		"accepts a post twice", "buyer/store.go", "if !known ||", "if MISTAKEN || !known ||",
		"buyers: concurrent posts under one key wait for the first", "post_calls: 4, want 2",
	},
	{
		"exits", "conformance/main.go", "\tcase \"call\":\n", "\tcase \"call\":\nif MISTAKEN { os.Exit(0) }\n",
		"errors: one invalid field", "the driver's output ended",
	},
	{
		"writes invalid lines", "conformance/main.go", beforeReply, replaceInReply("{", "now answering\n{"),
		"errors: one invalid field", "wrote an invalid line",
	},
}

// The suite must detect faulty SDKs: the Go SDK passes the case, and with the mistake it fails for
// the expected reason.
func TestSuiteDetectsFaultySDKs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an exchange and a faulty SDK; make test-long does")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs go, to build the exchange")
	}
	w := newTestEnvironment(t)
	faulty := buildFaultySDK(t)
	themes := must.Value(readThemes("cases"))(t)
	for _, m := range sdkMistakes {
		t.Run(m.name, func(t *testing.T) {
			cases := selectThemes(themes, m.caseName)
			if len(cases) != 1 {
				t.Fatalf("%q is in %d themes", m.caseName, len(cases))
			}
			for _, v := range runFaultySDK(t, w, faulty, "", cases) {
				if len(v.wrong) > 0 {
					t.Errorf("without the mistake: %s: %s", v.name, v.wrong)
				}
			}
			var found []string
			for _, v := range runFaultySDK(t, w, faulty, m.name, cases) {
				found = append(found, v.wrong...)
			}
			if !strings.Contains(strings.Join(found, "\n"), m.finding) {
				t.Errorf("found %q, want %q", found, m.finding)
			}
		})
	}
}

// buildFaultySDK builds the Go SDK's driver with all mistakes.
func buildFaultySDK(t *testing.T) driverCommand {
	t.Helper()
	sdk, out := must.Value(filepath.Abs(filepath.Join("..", "go")))(t), t.TempDir()
	changed := map[string]string{} // texts by path
	for _, m := range sdkMistakes {
		path := filepath.Join(sdk, m.file)
		text, read := changed[path]
		if !read {
			text = strings.Replace(string(must.Value(os.ReadFile(path))(t)), "import (", "import (\nmistakes \"os\"", 1)
		}
		if strings.Count(text, m.original) != 1 {
			t.Fatalf("%s: sdk/go/%s must contain once: %s", m.name, m.file, m.original)
		}
		condition := fmt.Sprintf("(mistakes.Getenv(%q) == %q)", "MISTAKE", m.name)
		changed[path] = strings.Replace(text, m.original, strings.ReplaceAll(m.replacement, "MISTAKEN", condition), 1)
	}
	overlay := map[string]string{}
	for path, text := range changed {
		overlay[path] = filepath.Join(out, fmt.Sprint(len(overlay), ".go"))
		must.Succeed(t, os.WriteFile(overlay[path], []byte(text), 0o600))
	}
	must.Succeed(t, os.WriteFile(filepath.Join(out, "overlay.json"), encode(map[string]any{"Replace": overlay}), 0o600))
	command := driverCommand{Build: `go build -overlay "$OUT/overlay.json" -o "$OUT/driver" ./conformance`, folder: sdk, out: out}
	must.Succeed(t, command.build(t.Context()))
	return command
}

func runFaultySDK(t *testing.T, w *environment, command driverCommand, mistake string, cases []theme) []caseResult {
	t.Helper()
	command.Run = fmt.Sprintf(`MISTAKE="%s" exec "$OUT/driver"`, mistake)
	results, err := runCases(t.Context(), w, command.start, cases)
	if err != nil && mistake != "writes invalid lines" {
		t.Fatal(err)
	}
	if err != nil { // the driver could not describe itself
		results = append(results, caseResult{wrong: []string{err.Error()}})
	}
	if len(results) == 0 {
		t.Fatal("no case ran")
	}
	return results
}

func newTestEnvironment(t *testing.T) *environment {
	t.Helper()
	place := t.TempDir()
	program := filepath.Join(place, "pingpost")
	must.Succeed(t, buildExchange(t.Context(), filepath.Join("..", ".."), program))
	w := must.Value(newEnvironment(context.Background(), place, program))(t) // it ends after the test's context
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}
