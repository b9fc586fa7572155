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

// heard is a request as it came.
type heard struct {
	path, key, apiKey, token, test, body string
}

// answering is a caller before a server that answers so, and what that hears.
func answering(t *testing.T, answers func(n int) int) (*Caller, *[]heard) {
	t.Helper()
	var all []heard
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		all = append(all, heard{r.URL.Path, h.Get("Idempotency-Key"), h.Get("x-api-key"), h.Get("Authorization"), h.Get("X-Pingpost-Test"), string(body)})
		w.Header().Set("X-Request-Id", "req_"+h.Get("Idempotency-Key"))
		w.Header().Set("Idempotent-Replayed", fmt.Sprint(len(all) > 1))
		w.WriteHeader(answers(len(all)))
		fmt.Fprint(w, "word ", len(all))
	}))
	t.Cleanup(server.Close)
	door := NewDoor()
	door.Open(server.URL)
	return NewCaller(door, "key-of-acme", rand.New(rand.NewPCG(1, 1))), &all
}

// TestAFailureIsNoAnswer: the same bytes again under the same key, until there is one.
func TestAFailureIsNoAnswer(t *testing.T) {
	call, all := answering(t, func(n int) int { return []int{503, 429, 500, 201}[n-1] })
	a, ok := call.Send(t.Context(), &Parcel{Path: "/api/v1/ingest", Key: "k", Body: []byte("{}")})
	if want := (Answer{Status: 201, Request: "req_k", Replayed: true, Text: "word 4"}); !ok || a != want {
		t.Errorf("answered %+v, want %+v", a, want)
	}
	if one := (heard{"/api/v1/ingest", "k", "key-of-acme", "", "", "{}"}); !slices.Equal(*all, []heard{one, one, one, one}) {
		t.Errorf("heard %+v", *all)
	}
}

// TestWhoSendsAParcel: the key of the supplier, or the token of a client; and whether
// it is a test.
func TestWhoSendsAParcel(t *testing.T) {
	call, all := answering(t, func(int) int { return 200 })
	seller := &caller{call, "token-of-the-seller"}
	for _, o := range []*order{
		{key: "lead", test: true}, {path: pathAsk, key: "question"}, {path: pathPing, key: "ping"}, {path: pathBatch, key: "report", token: "token-of-a-buyer"},
	} {
		if _, ok := seller.send(t.Context(), o); !ok {
			t.Fatal("no answer")
		}
	}
	want := []heard{
		{"/api/v1/ingest", "lead", "key-of-acme", "", "1", ""},
		{"/api/v1/ping", "question", "key-of-acme", "", "", ""},
		{"/v1/ping", "ping", "", "Bearer token-of-the-seller", "", ""},
		{"/v1/leads/status", "report", "", "Bearer token-of-a-buyer", "", ""},
	}
	if !slices.Equal(*all, want) {
		t.Errorf("heard %+v", *all)
	}
}

func TestACallerThatIsSentHomeStops(t *testing.T) {
	call, _ := answering(t, func(int) int { return 503 })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if a, ok := call.Send(ctx, &Parcel{Path: "/", Key: "k"}); ok {
		t.Errorf("it has an answer: %+v", a)
	}
	if found := NewDoor().find(ctx); found != "" {
		t.Errorf("a shut door leads to %q", found)
	}
}

func TestADoorThatOpensIsFound(t *testing.T) {
	d := NewDoor()
	found := make(chan string)
	go func() { found <- d.find(t.Context()) }()
	d.Open("http://here")
	if got := <-found; got != "http://here" {
		t.Errorf("found %q", got)
	}
	if d.Shut(); d.isOpen() {
		t.Error("it does not shut")
	}
}
