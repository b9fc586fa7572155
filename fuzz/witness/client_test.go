package witness

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// receivedRequest is a request as the server received it.
type receivedRequest struct {
	path, key, apiKey, token, test, body string
}

// startServer starts a server with the given statuses, and returns a client and the received
// requests.
func startServer(t *testing.T, answers func(n int) int) (*Client, *[]receivedRequest) {
	t.Helper()
	var all []receivedRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		all = append(all, receivedRequest{r.URL.Path, h.Get("Idempotency-Key"), h.Get("x-api-key"), h.Get("Authorization"), h.Get("X-Pingpost-Test"), string(body)})
		w.Header().Set("X-Request-Id", "req_"+h.Get("Idempotency-Key"))
		w.Header().Set("Idempotent-Replayed", fmt.Sprint(len(all) > 1))
		w.WriteHeader(answers(len(all)))
		fmt.Fprint(w, "word ", len(all))
	}))
	t.Cleanup(server.Close)
	locator := NewLocator()
	locator.Publish(server.URL)
	return NewClient(locator, "key-of-acme", rand.New(rand.NewPCG(1, 1))), &all
}

// The client repeats the same bytes under the same key until it gets an answer.
func TestClientRepeatsAfterFailure(t *testing.T) {
	client, all := startServer(t, func(n int) int { return []int{503, 429, 500, 201}[n-1] })
	a, ok := client.Send(t.Context(), &Request{Path: "/api/v1/ingest", Key: "k", Body: []byte("{}")})
	if want := (Response{Status: 201, RequestID: "req_k", Replayed: true, Body: "word 4"}); !ok || a != want {
		t.Errorf("answered %+v, want %+v", a, want)
	}
	if one := (receivedRequest{"/api/v1/ingest", "k", "key-of-acme", "", "", "{}"}); !slices.Equal(*all, []receivedRequest{one, one, one, one}) {
		t.Errorf("the server received %+v", *all)
	}
}

// The client sends the API key or the token, and the test header.
func TestClientSendsCredential(t *testing.T) {
	client, all := startServer(t, func(int) int { return 200 })
	seller := &sellerClient{client, "token-of-the-seller"}
	for _, o := range []*clientRequest{
		{key: "lead", isTest: true}, {path: pathAvailability, key: "question"}, {path: pathPing, key: "ping"}, {path: pathBatch, key: "report", token: "token-of-a-buyer"},
	} {
		if _, ok := seller.send(t.Context(), o); !ok {
			t.Fatal("no answer")
		}
	}
	want := []receivedRequest{
		{"/api/v1/ingest", "lead", "key-of-acme", "", "1", ""},
		{"/api/v1/ping", "question", "key-of-acme", "", "", ""},
		{"/v1/ping", "ping", "", "Bearer token-of-the-seller", "", ""},
		{"/v1/leads/status", "report", "", "Bearer token-of-a-buyer", "", ""},
	}
	if !slices.Equal(*all, want) {
		t.Errorf("the server received %+v", *all)
	}
}

func TestClientStopsWithContext(t *testing.T) {
	client, _ := startServer(t, func(int) int { return 503 })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if a, ok := client.Send(ctx, &Request{Path: "/", Key: "k"}); ok {
		t.Errorf("answered %+v after the end of the context", a)
	}
	if found := NewLocator().await(ctx); found != "" {
		t.Errorf("a locator without an address returned %q", found)
	}
}

func TestLocatorWakesWaitingClient(t *testing.T) {
	d := NewLocator()
	found := make(chan string)
	go func() { found <- d.await(t.Context()) }()
	d.Publish("http://here")
	if got := <-found; got != "http://here" {
		t.Errorf("found %q", got)
	}
	if d.Withdraw(); d.isUp() {
		t.Error("the locator has an address after Withdraw")
	}
}
