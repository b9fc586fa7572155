package webhook

import (
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// shortTimeout is for rows that must reach it, after the request has arrived and a part of the
// answer; longTimeout is for all others.
const (
	shortTimeout = 3 * time.Second
	longTimeout  = 20 * time.Second
)

// secrets contains the secrets of the supplier acme, one of them rotated out.
var secrets = map[string]string{
	"acme": "whsec_cHJlc2VudA==", "acme/previous": "whsec_cHJldmlvdXM",
	"alone": "whsec_YWxvbmU=", "empty": "", "empty/previous": "whsec_cHJldmlvdXM", "odd": "s3cret",
}

func newClient(t *testing.T, change func(*ClientOptions)) *Client {
	t.Helper()
	o := ClientOptions{TrustedNetworks: loopback, Secrets: func(name string) (string, bool) {
		secret, ok := secrets[name]
		return secret, ok
	}}
	if change != nil {
		change(&o)
	}
	c := NewClient(o)
	t.Cleanup(c.Close)
	return c
}

// newRequest returns an event for an address.
func newRequest(url string, timeout time.Duration) *market.WebhookRequest {
	return &market.WebhookRequest{
		Endpoint: market.OutboundEndpoint{URL: url, Credential: "alone"},
		ID:       "evt_1",
		Body:     []byte(`{"id":"evt_1","type":"lead.posted"}`),
		Deadline: time.Now().Add(timeout),
	}
}

func withoutElapsed(r market.WebhookAttemptResult) market.WebhookAttemptResult {
	r.Elapsed = 0
	return r
}

// Only a 2xx acknowledges a webhook.
func TestAnswers(t *testing.T) {
	elsewhere := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``))
	huge := strings.Repeat("x", maxAnswerBody+1)
	rows := []struct {
		name    string
		reply   dialtest.ReplyFunc
		timeout time.Duration
		want    market.WebhookAttemptResult
	}{
		{"200", dialtest.ReplyWithAnswer("200 OK", `{}`), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 200}},
		{"201", dialtest.ReplyWithAnswer("201 Created", ``), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 201}},
		{"204", dialtest.WriteAndClose("HTTP/1.1 204 No Content\r\n\r\n"), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 204}},
		{"202 after an interim answer", dialtest.WriteAndClose("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 202}},
		{"200 with a huge body", dialtest.ReplyWithAnswer("200 OK", huge), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 200}},
		{"200 with an endless body", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\n\r\n" + huge + huge), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 200}},
		{"200 with half a body", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), longTimeout, market.WebhookAttemptResult{Delivered: true, Status: 200}},
		{"200 without its body", dialtest.WriteAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), shortTimeout, market.WebhookAttemptResult{Delivered: true, Status: 200}},
		{"301", dialtest.ReplyWithAnswer("301 Moved Permanently", ``, "Location: http://"+elsewhere.Address+"/"), longTimeout, market.WebhookAttemptResult{Status: 301}},
		{"307", dialtest.ReplyWithAnswer("307 Temporary Redirect", ``, "Location: http://"+elsewhere.Address+"/"), longTimeout, market.WebhookAttemptResult{Status: 307}},
		{"400", dialtest.ReplyWithAnswer("400 Bad Request", `{"error":"no"}`), longTimeout, market.WebhookAttemptResult{Status: 400}},
		{"401", dialtest.ReplyWithAnswer("401 Unauthorized", ``), longTimeout, market.WebhookAttemptResult{Status: 401}},
		{"410", dialtest.ReplyWithAnswer("410 Gone", ``), longTimeout, market.WebhookAttemptResult{Status: 410}},
		{"429", dialtest.ReplyWithAnswer("429 Too Many Requests", ``, "Retry-After: 1"), longTimeout, market.WebhookAttemptResult{Status: 429}},
		{"500", dialtest.ReplyWithAnswer("500 Internal Server Error", ``), longTimeout, market.WebhookAttemptResult{Status: 500}},
		{"503 with a huge body", dialtest.ReplyWithAnswer("503 Service Unavailable", huge), longTimeout, market.WebhookAttemptResult{Status: 503, Fault: market.FaultTooLarge}},
		{"101", dialtest.WriteAndClose("HTTP/1.1 101 Switching Protocols\r\n\r\n"), longTimeout, market.WebhookAttemptResult{Status: 101}},
		{"no answer", dialtest.WriteAndHang(""), shortTimeout, market.WebhookAttemptResult{Fault: market.FaultTimeout}},
		{"an endless head", dialtest.WriteSlowlyForever("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 9999)), shortTimeout, market.WebhookAttemptResult{Fault: market.FaultTimeout}},
		{"a closed connection", dialtest.WriteAndClose(""), longTimeout, market.WebhookAttemptResult{Fault: market.FaultBroken}},
		{"a reset", dialtest.WriteAndReset("HTTP/1.1 200"), longTimeout, market.WebhookAttemptResult{Fault: market.FaultBroken}},
		{"no HTTP", dialtest.WriteAndClose("220 mail.example ESMTP\r\n\r\n"), longTimeout, market.WebhookAttemptResult{Fault: market.FaultUnreadable}},
		{"a huge head", dialtest.ReplyWithAnswer("200 OK", ``, "X: "+huge), longTimeout, market.WebhookAttemptResult{Fault: market.FaultTooLarge}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if row.timeout == shortTimeout {
				t.Parallel()
			}
			e := dialtest.StartEndpoint(t, row.reply)
			if got := withoutElapsed(newClient(t, nil).Post(newRequest("http://"+e.Address+"/hooks", row.timeout))); got != row.want {
				t.Errorf("\n got %+v\nwant %+v", got, row.want)
			}
		})
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d requests followed a redirect", n)
	}
}

// The client sends no request if the address, secret, certificate or deadline is invalid.
func TestNotSent(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``))
	_, port, _ := net.SplitHostPort(e.Address)
	broken := httptest.NewUnstartedServer(http.NotFoundHandler())
	broken.Config.ErrorLog = log.New(io.Discard, "", 0)
	broken.StartTLS()
	defer broken.Close()
	_, secure, _ := net.SplitHostPort(broken.Listener.Addr().String())
	trusted := x509.NewCertPool()
	trusted.AddCert(broken.Certificate())
	rows := []struct {
		name    string
		url     string
		secret  string
		change  func(*ClientOptions)
		timeout time.Duration
		fault   market.OutboundRequestFault
		reason  string
	}{
		{"no address", "", "alone", nil, longTimeout, market.FaultEndpoint, "the supplier's webhook was removed"},
		{"not an address", "ftp://acme.example/", "alone", nil, longTimeout, market.FaultEndpoint, ""},
		{"no secret", "http://" + e.Address, "missing", nil, longTimeout, market.FaultCredential, "an unsigned request does not prove its sender"},
		{"an empty secret", "http://" + e.Address, "empty", nil, longTimeout, market.FaultCredential, "the previous secret alone does not sign"},
		{"a secret of another form", "http://" + e.Address, "odd", nil, longTimeout, market.FaultCredential, ""},
		{"no such name", "https://missing.invalid/", "alone", nil, longTimeout, market.FaultResolve, ""},
		{"a private network", "https://" + e.Address, "alone", noTrustedNetworks, longTimeout, market.FaultForbidden, ""},
		{"a private network by name", "https://localhost:" + port, "alone", noTrustedNetworks, longTimeout, market.FaultForbidden, ""},
		{"a name that becomes private", "http://hooks.example:" + port, "alone", changingAddress(t), longTimeout, market.FaultForbidden, ""},
		{"plain http", "http://198.41.0.4/", "alone", nil, longTimeout, market.FaultForbidden, "outside of the trusted networks"},
		{"an unknown certificate", broken.URL, "alone", nil, longTimeout, market.FaultTLS, ""},
		{"another host's certificate", "https://localhost:" + secure, "alone", func(o *ClientOptions) { o.RootCAs = trusted }, longTimeout, market.FaultTLS, ""},
		{"no TLS", "https://" + e.Address, "alone", nil, longTimeout, market.FaultTLS, ""},
		{"a closed port", "http://" + dialtest.UnusedAddress(t), "alone", nil, longTimeout, market.FaultConnect, ""},
		{"no time left", "http://" + e.Address, "alone", nil, -time.Second, market.FaultTimeout, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRequest(row.url, row.timeout)
			r.Endpoint.Credential = row.secret
			if got := withoutElapsed(newClient(t, row.change).Post(r)); got != (market.WebhookAttemptResult{Fault: row.fault}) {
				t.Errorf("got %+v, want %v %s", got, row.fault, row.reason)
			}
		})
	}
	if n := len(e.Requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	trusting := newClient(t, func(o *ClientOptions) { o.RootCAs = trusted })
	if got := trusting.Post(newRequest(broken.URL, longTimeout)); got.Status != http.StatusNotFound {
		t.Errorf("with a trusted certificate: %+v", got)
	}
}

func noTrustedNetworks(o *ClientOptions) { o.TrustedNetworks = nil }

// changingAddress resolves a name to a permitted address first, and to a forbidden one
// when the client connects.
func changingAddress(t *testing.T) func(*ClientOptions) {
	return func(o *ClientOptions) {
		o.TrustedNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Resolver = dialtest.NewSequenceResolver(t, "127.0.0.1", "127.0.0.2")
		if _, err := o.Resolver.LookupHost(t.Context(), "hooks.example"); err != nil {
			t.Error(err)
		}
	}
}

// If the endpoint has closed the kept connection, the client sends the same request again
// over a new one.
func TestStaleConnIsNoFailure(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", `{}`), dialtest.WriteAndClose(""), dialtest.ReplyWithAnswer("200 OK", `{}`))
	c := newClient(t, nil)
	for range 2 {
		if got := c.Post(newRequest("http://"+e.Address+"/", longTimeout)); !got.Delivered {
			t.Errorf("%+v", got)
		}
	}
	requests := e.Requests()
	if len(requests) != 3 || requests[1].Raw != requests[2].Raw || requests[2].Conn != 1 {
		t.Errorf("%d requests, want 3, the last two equal", len(requests))
	}
}
