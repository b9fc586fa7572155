package pingpost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/sdk/go/model"
)

// fakeExchange is a server that gives these answers in order and repeats the last one. It
// records the requests.
type fakeExchange struct {
	*httptest.Server
	mu   sync.Mutex
	next []fakeAnswer
	sent []*http.Request
	text []string
}

type fakeAnswer struct {
	status int
	header http.Header
	body   string
}

func newFakeExchange(t *testing.T, next ...fakeAnswer) *fakeExchange {
	t.Helper()
	a := &fakeExchange{next: next}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *fakeExchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.sent, a.text = append(a.sent, r), append(a.text, string(body))
	answer := a.next[0]
	if len(a.next) > 1 {
		a.next = a.next[1:]
	}
	a.mu.Unlock()
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

// waitRecorder records the waits that the client requests.
type waitRecorder struct{ durations []time.Duration }

func (w *waitRecorder) sleep(ctx context.Context, d time.Duration) error {
	w.durations = append(w.durations, d)
	return ctx.Err()
}

const sold = `{"data": {"id": "lead_1", "status": "ACCEPTED", "buyer_id": "b", "campaign_id": "c"}}`

func TestRetryWaits(t *testing.T) {
	after := func(text string) http.Header { return http.Header{"Retry-After": {text}} }
	for _, c := range []struct {
		name   string
		next   []fakeAnswer
		waits  string
		status int // status of the error; 0: no status
	}{
		{"none", []fakeAnswer{{201, nil, sold}}, "[]", 0},
		{"once", []fakeAnswer{{500, nil, ""}, {201, nil, sold}}, "[1s]", 0},
		{"Retry-After", []fakeAnswer{{503, after("9"), ""}, {429, after("0"), ""}, {201, nil, sold}}, "[9s 0s]", 0},
		{"Retry-After over an hour", []fakeAnswer{{503, after("3601"), ""}, {429, after("999999999999"), ""}, {503, after("Fri, 01 Jan 2100 00:00:00 GMT"), ""}, {201, nil, sold}}, "[1h0m0s 1h0m0s 1h0m0s]", 0},
		{"invalid Retry-After", []fakeAnswer{{503, after("x"), ""}, {429, after("-1"), ""}, {201, nil, sold}}, "[1s 2s]", 0},
		{"all tries fail", []fakeAnswer{{503, nil, ""}}, "[1s 2s 4s 8s 16s]", 503},
		{"final error", []fakeAnswer{{422, after("1"), ""}}, "[]", 422},
		{"unreadable answer", []fakeAnswer{{201, nil, "{"}, {201, nil, sold}}, "[1s]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, w := newFakeExchange(t, c.next...), &waitRecorder{}
			client, err := New(Options{BaseURL: x.URL, APIKey: "k", Sleep: w.sleep})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.IngestLead(t.Context(), model.IngestRequest{})
			var apiError *APIError
			if errors.As(err, &apiError) != (c.status > 0) || c.status > 0 && apiError.Status != c.status || (err != nil) != (c.status > 0) {
				t.Errorf("%v", err)
			}
			if got := fmt.Sprint(w.durations); got != c.waits {
				t.Errorf("waited %s, want %s", got, c.waits)
			}
			for i := range x.sent {
				if x.text[i] != x.text[0] || x.sent[i].Header.Get("Idempotency-Key") != x.sent[0].Header.Get("Idempotency-Key") {
					t.Errorf("try %d differs from the first request", i+1)
				}
			}
		})
	}
}

// A cancelled call does not wait for a retry.
func TestCancelledCallDoesNotWait(t *testing.T) {
	x := newFakeExchange(t, fakeAnswer{503, nil, ""})
	ctx, cancel := context.WithCancel(t.Context())
	client, err := New(Options{BaseURL: x.URL, APIKey: "k", Sleep: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.IngestLead(ctx, model.IngestRequest{}); !errors.Is(err, ErrServer) || len(x.sent) != 1 {
		t.Errorf("%v after %d tries", err, len(x.sent))
	}
}

func TestOptionErrors(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"no address":                       {Options{APIKey: "k"}, "BaseURL"},
		"another scheme":                   {Options{BaseURL: "ftp://x", APIKey: "k"}, "BaseURL"},
		"a query":                          {Options{BaseURL: "http://x?y", APIKey: "k"}, "BaseURL"},
		"an invalid AuthURL":               {Options{BaseURL: "http://x", AuthURL: "x", APIKey: "k"}, "AuthURL"},
		"no credential":                    {Options{BaseURL: "http://x"}, "0 credentials"},
		"two credentials":                  {Options{BaseURL: "http://x", APIKey: "k", Token: "t"}, "2 credentials"},
		"an id without secret":             {Options{BaseURL: "http://x", ClientID: "c"}, "together"},
		"a secret without id, and a token": {Options{BaseURL: "http://x", ClientSecret: "c", Token: "t"}, "together"},
		"negative timeout":                 {Options{BaseURL: "http://x", APIKey: "k", Timeout: -1}, "Timeout"},
		"valid":                            {Options{BaseURL: "http://x/", APIKey: "k"}, ""},
	} {
		client, err := New(c.o)
		var usage *UsageError
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && client.options.BaseURL != "http://x" {
			t.Errorf("%s: %q", name, client.options.BaseURL)
		}
	}
	client, err := New(Options{BaseURL: "http://x", APIKey: "secret-1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s", client, client, client, client), fmt.Sprintf("%v %+v %#v", client.options, client.options, &client.options)} {
		if strings.Contains(shown, "secret-1") {
			t.Errorf("the output contains the API key: %s", shown)
		}
	}
	if _, err := client.SendPing(t.Context(), model.PingRequest{}); err == nil || !strings.Contains(err.Error(), "Token") {
		t.Errorf("ping with an API key: got %v, want a usage error", err)
	}
}

// Only one fetch runs at a time. A token is renewed after nine tenths of its lifetime. Only the
// rejected token is discarded.
func TestTokenRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		tokens := &tokenSource{now: time.Now, fetch: func(context.Context) (*model.TokenResponse, error) {
			fetched++
			n := fetched
			time.Sleep(time.Second)
			return &model.TokenResponse{AccessToken: fmt.Sprint("t", n), ExpiresIn: 100}, nil
		}}
		get := func(want string) {
			t.Helper()
			if got, err := tokens.get(t.Context(), "k"); got != want || err != nil {
				t.Errorf("%q %v, want %q", got, err, want)
			}
		}
		shortContext, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := tokens.get(shortContext, "k"); IdempotencyKey(err) != "k" {
			t.Errorf("cancelled call: got %v, want an error with its key", err)
		}
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() { get("t1") })
		}
		wait.Wait()
		time.Sleep(88 * time.Second) // 89 seconds after the fetch
		get("t1")
		time.Sleep(time.Second)
		get("t2")
		tokens.forget("t1")
		get("t2")
		tokens.forget("t2")
		get("t3")
		if fetched != 3 {
			t.Errorf("fetched %d times, want 3", fetched)
		}
	})
}

func TestRejectedClientError(t *testing.T) {
	x := newFakeExchange(t, fakeAnswer{401, nil, `{"error": "invalid_client", "error_description": "No such client.", "message": "No such client.", "request_id": "req_1"}`})
	client, err := New(Options{BaseURL: x.URL, ClientID: "c", ClientSecret: "secret-1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.SendPing(t.Context(), model.PingRequest{}, WithIdempotencyKey("k1"))
	var apiError *APIError
	if !errors.As(err, &apiError) || apiError.Description != "No such client." || apiError.IdempotencyKey != "k1" || len(x.sent) != 1 || strings.Contains(err.Error(), "secret-1") {
		t.Errorf("%v after %d requests", err, len(x.sent))
	}
}
