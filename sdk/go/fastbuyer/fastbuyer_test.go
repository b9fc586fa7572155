package fastbuyer_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"pingpost/sdk/go/buyer"
	"pingpost/sdk/go/fastbuyer"
	"pingpost/sdk/go/model"
)

// The endpoint exists only below its prefix, which may be empty. Bodies of up to MaxBody bytes
// are accepted.
func TestHandlerPrefixAndBodyLimit(t *testing.T) {
	b, err := buyer.New(buyer.Options{
		Bearer: "t",
		Bid:    func(context.Context, *model.PingRequest) (buyer.Bid, error) { return buyer.Bid{Amount: 1}, nil },
		Post:   func(context.Context, *model.LeadDelivery) (string, error) { return "B-1", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ping := []byte(`{"auction_id": "a", "vertical": "v", "state": "CA", "tcpa_consent": true}`)
	for _, c := range []struct {
		prefix, method, path, token string
		body                        []byte
		status                      int
		allow, challenge            string
	}{
		{"", "POST", "/v1/ping", "t", ping, 200, "", ""},
		{"/in/", "POST", "/in/v1/ping", "t", ping, 200, "", ""},
		{"/in", "POST", "/v1/ping", "t", ping, 404, "", ""},
		{"/in", "POST", "/in/in/v1/ping", "t", ping, 404, "", ""},
		{"", "GET", "/v1/ping", "t", nil, 405, "POST", ""},
		{"", "POST", "/v1/ping", "x", ping, 401, "", "Bearer"},
		{"", "POST", "/v1/ping", "t", append(ping, bytes.Repeat([]byte(" "), buyer.MaxBody-len(ping))...), 200, "", ""},
		{"", "POST", "/v1/ping", "t", append(ping, bytes.Repeat([]byte(" "), buyer.MaxBody-len(ping)+1)...), 413, "", ""},
	} {
		listener := fasthttputil.NewInmemoryListener()
		server := &fasthttp.Server{Handler: fastbuyer.Handler(b, c.prefix)}
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return listener.Dial() }}}
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://x"+c.path, bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "k")
		answer, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || answer.Header.Get("Allow") != c.allow || answer.Header.Get("WWW-Authenticate") != c.challenge || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s %s below %q: %d %v", c.method, c.path, c.prefix, answer.StatusCode, answer.Header)
		}
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
