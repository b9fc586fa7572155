package seller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/must"
)

// newFakeExchange starts a server whose answer depends on a word in the body.
func newFakeExchange(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/api/v1/ingest" || r.Method != http.MethodPost ||
			r.Header.Get("x-api-key") != "key_1" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v %v", r.Method, r.URL, r.Header, err)
		}
		w.Header().Set("X-Request-Id", fmt.Sprintf("req_%.4s", r.Header.Get("Idempotency-Key")))
		switch text := string(body); {
		case strings.Contains(text, "sell"):
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, acceptedAnswer)
		case strings.Contains(text, "keep"):
			w.Header().Set("Idempotent-Replayed", "true")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, unmatchedAnswer)
		case strings.Contains(text, "drop"):
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"malformed_json","message":"no","request_id":"req_1"}`)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func sendFile(t *testing.T, text string, change func(*SendCommand)) (answers []answerFileRecord, err error) {
	t.Helper()
	dir := t.TempDir()
	c := &SendCommand{
		File: filepath.Join(dir, "leads.ndjson"), To: newFakeExchange(t).URL + "/", APIKey: "key_1",
		Concurrency: 1, Idempotency: true, Out: filepath.Join(dir, "answers.ndjson"),
	}
	must.Succeed(t, os.WriteFile(c.File, []byte(text), 0o600))
	if change != nil {
		change(c)
	}
	err = c.Run(t.Context())
	answerText, readErr := os.ReadFile(filepath.Join(dir, "answers.ndjson"))
	if readErr != nil && err == nil {
		t.Fatal(readErr)
	}
	for l := range strings.Lines(string(answerText)) {
		var a answerFileRecord
		if err := json.Unmarshal([]byte(l), &a); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		answers = append(answers, a)
	}
	return answers, err
}

func TestSendFile(t *testing.T) {
	answers := must.Value(sendFile(t, "\n {\"a\":\"sell\"} \r\n\n{\"a\":\"keep\"}\nnonsense", nil))(t)
	if len(answers) != 3 {
		t.Fatalf("%d answers: %+v", len(answers), answers)
	}
	for i, want := range []struct {
		line, status int
		replayed     bool
		answer       string
	}{{2, 201, false, acceptedAnswer}, {4, 201, true, unmatchedAnswer}, {5, 400, false, `{"error":"malformed_json","message":"no","request_id":"req_1"}`}} {
		got := answers[i]
		if got.Line != want.line || got.Status != want.status || got.Replayed != want.replayed || string(got.Answer) != want.answer ||
			got.Tries != 1 || got.RequestID != "req_send" || got.Error != "" {
			t.Errorf("answer %d: %+v %s", i, got, got.Answer)
		}
	}
}

func TestSendRejectsInvalidArguments(t *testing.T) {
	rows := []struct {
		name, text string
		change     func(*SendCommand)
		wantError  string
	}{
		{"no file", "", func(c *SendCommand) { c.File += ".gone" }, "no such file"},
		{"no address", "{}", func(c *SendCommand) { c.To = "127.0.0.1:8080" }, "is not an address"},
		{"no HTTP address", "{}", func(c *SendCommand) { c.To = "ftp://127.0.0.1" }, "is not an address"},
		{"no concurrency", "{}", func(c *SendCommand) { c.Concurrency = 0 }, "--concurrency 0"},
		{"a negative rate", "{}", func(c *SendCommand) { c.Rate = -1 }, "--rate -1"},
		{"invalid output path", "{}", func(c *SendCommand) { c.Out = filepath.Join(c.File, "x") }, "cannot create the file of --out"},
		{"a line above the limit", `{"a":"sell"}` + "\n" + strings.Repeat("x", maxSentLine+1), nil, "cannot read line 2 of the input"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := sendFile(t, row.text, row.change)
			if err == nil || !strings.Contains(err.Error(), row.wantError) {
				t.Errorf("%v, want %q", err, row.wantError)
			}
		})
	}
}

// TestSendWithoutFinalAnswerFails: a line without a final answer makes the exit code 1.
func TestSendWithoutFinalAnswerFails(t *testing.T) {
	answers, err := sendFile(t, `{"a":"drop"}`+"\n"+`{"a":"drop"}`, func(c *SendCommand) { c.Idempotency = false })
	var code terminal.ExitCodeError
	if !errors.As(err, &code) || code != 1 {
		t.Errorf("%v, want exit 1", err)
	}
	if len(answers) != 2 || answers[0].Error == "" || answers[1].Error == "" || answers[1].Answer != nil {
		t.Errorf("%+v", answers)
	}
}

// failingWriter fails every write.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }
func (failingWriter) Close() error              { return nil }

func TestAnswerFileWriteError(t *testing.T) {
	f := newAnswerFileWriter(failingWriter{})
	for range 1000 {
		f.add(ingestResult(statusAccepted, "", "USD", 1))
	}
	if err := f.flushAndClose(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v, want the write error", err)
	}
}

// TestSendExitCodeAfterRefusals: the exit code is 1 if every line is refused, and 0 with
// one accepted or unmatched lead.
func TestSendExitCodeAfterRefusals(t *testing.T) {
	answers, err := sendFile(t, "nonsense\nmore", nil)
	var code terminal.ExitCodeError
	if !errors.As(err, &code) || code != 1 {
		t.Errorf("every lead was refused: %v, want exit 1", err)
	}
	if len(answers) != 2 || answers[0].Status != 400 || answers[1].Status != 400 {
		t.Errorf("%+v", answers)
	}
	if _, err := sendFile(t, "nonsense\n{\"a\":\"keep\"}", nil); err != nil {
		t.Errorf("one lead of two was refused: %v, want exit 0", err)
	}
	if _, err := sendFile(t, "\n\n", nil); err != nil {
		t.Errorf("an empty file: %v, want exit 0", err)
	}
}

// TestInterruptedSendNamesUnsentLines: an interrupt is an error only if lines of the file were not
// sent.
func TestInterruptedSendNamesUnsentLines(t *testing.T) {
	for lines, wantError := range map[int]string{1: "", 50: "interrupted; the remaining lines of the file were not sent"} {
		ctx, interrupt := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			interrupt()
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, acceptedAnswer)
		}))
		file := filepath.Join(t.TempDir(), "leads.ndjson")
		must.Succeed(t, os.WriteFile(file, []byte(strings.Repeat("{}\n", lines)), 0o600))
		c := &SendCommand{File: file, To: server.URL, APIKey: "key_1", Concurrency: 1, Idempotency: true}
		got := ""
		if err := c.Run(ctx); err != nil {
			got = err.Error()
		}
		server.Close()
		if got != wantError {
			t.Errorf("%d lines: the error is %q, want %q", lines, got, wantError)
		}
	}
}
