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

// answers is a server that sends one answer after another, and repeats the last one.
type answers struct {
	*httptest.Server
	mu   sync.Mutex
	next []answer
	sent []*http.Request
	text []string
}

type answer struct {
	status int
	header http.Header
	body   string
}

func exchange(t *testing.T, next ...answer) *answers {
	t.Helper()
	a := &answers{next: next}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.sent, a.text = append(a.sent, r), append(a.text, string(body))
	now := a.next[0]
	if len(a.next) > 1 {
		a.next = a.next[1:]
	}
	a.mu.Unlock()
	for name, values := range now.header {
		w.Header()[name] = values
	}
	w.WriteHeader(now.status)
	_, _ = io.WriteString(w, now.body)
}

// waits records the client's requested waits.
type waits struct{ asked []time.Duration }

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.asked = append(w.asked, d)
	return ctx.Err()
}

const sold = `{"data": {"id": "lead_1", "status": "ACCEPTED", "buyer_id": "b", "campaign_id": "c"}}`

func TestRetries(t *testing.T) {
	after := func(text string) http.Header { return http.Header{"Retry-After": {text}} }
	for _, c := range []struct {
		name   string
		next   []answer
		asked  string
		status int // status of the error; 0: no status
	}{
		{"none", []answer{{201, nil, sold}}, "[]", 0},
		{"once", []answer{{500, nil, ""}, {201, nil, sold}}, "[1s]", 0},
		{"as it says", []answer{{503, after("9"), ""}, {429, after("0"), ""}, {201, nil, sold}}, "[9s 0s]", 0},
		{"an hour at most", []answer{{503, after("3601"), ""}, {429, after("999999999999"), ""}, {503, after("Fri, 01 Jan 2100 00:00:00 GMT"), ""}, {201, nil, sold}}, "[1h0m0s 1h0m0s 1h0m0s]", 0},
		{"as it says nothing", []answer{{503, after("x"), ""}, {429, after("-1"), ""}, {201, nil, sold}}, "[1s 2s]", 0},
		{"in vain", []answer{{503, nil, ""}}, "[1s 2s 4s 8s 16s]", 503},
		{"not", []answer{{422, after("1"), ""}}, "[]", 422},
		{"an answer that cannot be read", []answer{{201, nil, "{"}, {201, nil, sold}}, "[1s]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, w := exchange(t, c.next...), &waits{}
			client, err := New(Options{BaseURL: x.URL, APIKey: "k", Sleep: w.sleep})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.IngestLead(t.Context(), model.IngestRequest{})
			var refused *APIError
			if errors.As(err, &refused) != (c.status > 0) || c.status > 0 && refused.Status != c.status || (err != nil) != (c.status > 0) {
				t.Errorf("%v", err)
			}
			if got := fmt.Sprint(w.asked); got != c.asked {
				t.Errorf("waited %s, want %s", got, c.asked)
			}
			for i := range x.sent {
				if x.text[i] != x.text[0] || x.sent[i].Header.Get("Idempotency-Key") != x.sent[0].Header.Get("Idempotency-Key") {
					t.Errorf("try %d is another request", i+1)
				}
			}
		})
	}
}

// A cancelled call does not wait for a retry.
func TestGivingUp(t *testing.T) {
	x := exchange(t, answer{503, nil, ""})
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

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		says string
	}{
		"no address":       {Options{APIKey: "k"}, "BaseURL"},
		"another scheme":   {Options{BaseURL: "ftp://x", APIKey: "k"}, "BaseURL"},
		"a query":          {Options{BaseURL: "http://x?y", APIKey: "k"}, "BaseURL"},
		"auth elsewhere":   {Options{BaseURL: "http://x", AuthURL: "x", APIKey: "k"}, "AuthURL"},
		"no credential":    {Options{BaseURL: "http://x"}, "0 credentials"},
		"two":              {Options{BaseURL: "http://x", APIKey: "k", Token: "t"}, "2 credentials"},
		"half":             {Options{BaseURL: "http://x", ClientID: "c"}, "together"},
		"half, and whole":  {Options{BaseURL: "http://x", ClientSecret: "c", Token: "t"}, "together"},
		"negative timeout": {Options{BaseURL: "http://x", APIKey: "k", Timeout: -1}, "Timeout"},
		"good":             {Options{BaseURL: "http://x/", APIKey: "k"}, ""},
	} {
		client, err := New(c.o)
		var usage *UsageError
		if (err == nil) != (c.says == "") || err != nil && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
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
			t.Errorf("shows its key: %s", shown)
		}
	}
	if _, err := client.SendPing(t.Context(), model.PingRequest{}); err == nil || !strings.Contains(err.Error(), "Token") {
		t.Errorf("a ping by API key: %v", err)
	}
}

// Only one fetch runs at a time. A token is renewed after nine tenths of its lifetime. Only the
// refused token is discarded.
func TestTokens(t *testing.T) {
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
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := tokens.get(impatient, "k"); IdempotencyKey(err) != "k" {
			t.Errorf("who does not wait: %v", err)
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
			t.Errorf("fetched %d times", fetched)
		}
	})
}

func TestTokenRefused(t *testing.T) {
	x := exchange(t, answer{401, nil, `{"error": "invalid_client", "error_description": "No such client.", "message": "No such client.", "request_id": "req_1"}`})
	client, err := New(Options{BaseURL: x.URL, ClientID: "c", ClientSecret: "secret-1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.SendPing(t.Context(), model.PingRequest{}, WithIdempotencyKey("k1"))
	var refused *APIError
	if !errors.As(err, &refused) || refused.Description != "No such client." || refused.IdempotencyKey != "k1" || len(x.sent) != 1 || strings.Contains(err.Error(), "secret-1") {
		t.Errorf("%v after %d requests", err, len(x.sent))
	}
}
