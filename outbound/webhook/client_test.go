package webhook

import (
	"crypto/tls"
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

// soon is a deadline for rows that are meant to run into it; ample is one for all
// the others.
const (
	soon  = 300 * time.Millisecond
	ample = 20 * time.Second
)

// secrets are those of the supplier acme, of which one is on its way out.
var secrets = map[string]string{
	"acme": "whsec_cHJlc2VudA==", "acme/previous": "whsec_cHJldmlvdXM",
	"alone": "whsec_YWxvbmU=", "empty": "", "empty/previous": "whsec_cHJldmlvdXM", "odd": "s3cret",
}

func client(t *testing.T, change func(*ClientOptions)) *Client {
	t.Helper()
	o := ClientOptions{Trusted: loopback, Secrets: func(name string) (string, bool) {
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

// told is an event for an address.
func told(url string, within time.Duration) *market.WebhookRequest {
	return &market.WebhookRequest{
		Endpoint: market.Endpoint{URL: url, Credential: "alone"},
		ID:       "evt_1",
		Body:     []byte(`{"id":"evt_1","type":"lead.posted"}`),
		Deadline: time.Now().Add(within),
	}
}

func withoutElapsed(r market.WebhookResult) market.WebhookResult {
	r.Elapsed = 0
	return r
}

// TestAnswers: what acknowledges is a 2xx, and nothing else.
func TestAnswers(t *testing.T) {
	elsewhere := dialtest.Listen(t, dialtest.Answer("200 OK", ``))
	huge := strings.Repeat("x", maxAnswer+1)
	rows := []struct {
		name   string
		reply  dialtest.Reply
		within time.Duration
		want   market.WebhookResult
	}{
		{"200", dialtest.Answer("200 OK", `{}`), ample, market.WebhookResult{Delivered: true, Status: 200}},
		{"201", dialtest.Answer("201 Created", ``), ample, market.WebhookResult{Delivered: true, Status: 201}},
		{"204", dialtest.WriteAndClose("HTTP/1.1 204 No Content\r\n\r\n"), ample, market.WebhookResult{Delivered: true, Status: 204}},
		{"after an interim one", dialtest.WriteAndClose("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), ample, market.WebhookResult{Delivered: true, Status: 202}},
		{"200 with a huge body", dialtest.Answer("200 OK", huge), ample, market.WebhookResult{Delivered: true, Status: 200}},
		{"200 with an endless body", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\n\r\n" + huge + huge), ample, market.WebhookResult{Delivered: true, Status: 200}},
		{"200 with half a body", dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), ample, market.WebhookResult{Delivered: true, Status: 200}},
		{"200 with a body that never comes", dialtest.WriteAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), soon, market.WebhookResult{Delivered: true, Status: 200}},
		{"301", dialtest.Answer("301 Moved Permanently", ``, "Location: http://"+elsewhere.Address+"/"), ample, market.WebhookResult{Status: 301}},
		{"307", dialtest.Answer("307 Temporary Redirect", ``, "Location: http://"+elsewhere.Address+"/"), ample, market.WebhookResult{Status: 307}},
		{"400", dialtest.Answer("400 Bad Request", `{"error":"no"}`), ample, market.WebhookResult{Status: 400}},
		{"401", dialtest.Answer("401 Unauthorized", ``), ample, market.WebhookResult{Status: 401}},
		{"410", dialtest.Answer("410 Gone", ``), ample, market.WebhookResult{Status: 410}},
		{"429", dialtest.Answer("429 Too Many Requests", ``, "Retry-After: 1"), ample, market.WebhookResult{Status: 429}},
		{"500", dialtest.Answer("500 Internal Server Error", ``), ample, market.WebhookResult{Status: 500}},
		{"503 with a huge body", dialtest.Answer("503 Service Unavailable", huge), ample, market.WebhookResult{Status: 503, Fault: market.FaultTooLarge}},
		{"101", dialtest.WriteAndClose("HTTP/1.1 101 Switching Protocols\r\n\r\n"), ample, market.WebhookResult{Status: 101}},
		{"never", dialtest.WriteAndHang(""), soon, market.WebhookResult{Fault: market.FaultTimeout}},
		{"a head that never ends", dialtest.WriteSlowly("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 9999)), soon, market.WebhookResult{Fault: market.FaultTimeout}},
		{"a hang-up", dialtest.WriteAndClose(""), ample, market.WebhookResult{Fault: market.FaultBroken}},
		{"a reset", dialtest.WriteAndReset("HTTP/1.1 200"), ample, market.WebhookResult{Fault: market.FaultBroken}},
		{"no HTTP", dialtest.WriteAndClose("220 mail.example ESMTP\r\n\r\n"), ample, market.WebhookResult{Fault: market.FaultUnreadable}},
		{"a huge head", dialtest.Answer("200 OK", ``, "X: "+huge), ample, market.WebhookResult{Fault: market.FaultTooLarge}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			e := dialtest.Listen(t, row.reply)
			if got := withoutElapsed(client(t, nil).Post(told("http://"+e.Address+"/hooks", row.within))); got != row.want {
				t.Errorf("\n got %+v\nwant %+v", got, row.want)
			}
		})
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestNotSent: what goes nowhere, and why.
func TestNotSent(t *testing.T) {
	e := dialtest.Listen(t, dialtest.Answer("200 OK", ``))
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
		waits   time.Duration
		fault   market.Fault
		because string
	}{
		{"no address", "", "alone", nil, ample, market.FaultEndpoint, "the supplier has no webhook any more"},
		{"not an address", "ftp://acme.example/", "alone", nil, ample, market.FaultEndpoint, ""},
		{"no secret", "http://" + e.Address, "nobody", nil, ample, market.FaultCredential, "what is not signed may be anybody's"},
		{"an empty secret", "http://" + e.Address, "empty", nil, ample, market.FaultCredential, "the previous one alone signs nothing"},
		{"a secret of another form", "http://" + e.Address, "odd", nil, ample, market.FaultCredential, ""},
		{"no such name", "https://nobody.invalid/", "alone", nil, ample, market.FaultResolve, ""},
		{"a private network", "https://" + e.Address, "alone", private, ample, market.FaultForbidden, ""},
		{"a private network by name", "https://localhost:" + port, "alone", private, ample, market.FaultForbidden, ""},
		{"a name that turns private", "http://hooks.example:" + port, "alone", turning(t), ample, market.FaultForbidden, ""},
		{"plain http", "http://198.41.0.4/", "alone", nil, ample, market.FaultForbidden, "outside of the trusted networks"},
		{"nobody's certificate", broken.URL, "alone", nil, ample, market.FaultTLS, ""},
		{"another's certificate", "https://localhost:" + secure, "alone", func(o *ClientOptions) { o.Roots = trusted }, ample, market.FaultTLS, ""},
		{"no TLS", "https://" + e.Address, "alone", nil, ample, market.FaultTLS, ""},
		{"nobody there", "http://" + free(t), "alone", nil, ample, market.FaultConnect, ""},
		{"no time left", "http://" + e.Address, "alone", nil, -time.Second, market.FaultTimeout, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := told(row.url, row.waits)
			r.Endpoint.Credential = row.secret
			if got := withoutElapsed(client(t, row.change).Post(r)); got != (market.WebhookResult{Fault: row.fault}) {
				t.Errorf("got %+v, want %v %s", got, row.fault, row.because)
			}
		})
	}
	if n := len(e.Requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	trusting := client(t, func(o *ClientOptions) { o.Roots = trusted })
	if got := trusting.Post(told(broken.URL, ample)); got.Status != http.StatusNotFound {
		t.Errorf("with its certificate trusted: %+v", got)
	}
}

func private(o *ClientOptions) { o.Trusted = nil }

// turning has a name at an address that is not permitted, where a look before had
// found one that is.
func turning(t *testing.T) func(*ClientOptions) {
	return func(o *ClientOptions) {
		o.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Resolver = dialtest.Resolver(t, "127.0.0.1", "127.0.0.2")
		if _, err := o.Resolver.LookupHost(t.Context(), "hooks.example"); err != nil {
			t.Error(err)
		}
	}
}

func free(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// TestStaleConnection: one that the endpoint has ended meanwhile is no failure; the
// event goes out again over another, under its id.
func TestStaleConnection(t *testing.T) {
	e := dialtest.Listen(t, dialtest.Answer("200 OK", `{}`), dialtest.WriteAndClose(""), dialtest.Answer("200 OK", `{}`))
	c := client(t, nil)
	for range 2 {
		if got := c.Post(told("http://"+e.Address+"/", ample)); !got.Delivered {
			t.Errorf("%+v", got)
		}
	}
	requests := e.Requests()
	if len(requests) != 3 || requests[1].Raw != requests[2].Raw || requests[2].Conn != 1 {
		t.Errorf("%d requests", len(requests))
	}
}

// TestConnectionIsKept: over TLS as over plain lines, where the endpoint allows it.
func TestConnectionIsKept(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	keeping, closing := dialtest.Answer("200 OK", `{}`), dialtest.Answer("200 OK", `{}`, "Connection: close")
	e := dialtest.ServeOn(t, tls.NewListener(ln, certificate.TLS), keeping, keeping, closing, keeping)
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Certificate())
	c := client(t, func(o *ClientOptions) { o.Roots = roots })
	for range 4 {
		if got := c.Post(told("https://"+e.Address+"/", ample)); !got.Delivered {
			t.Fatalf("%+v", got)
		}
	}
	var conns []int
	for _, r := range e.Requests() {
		conns = append(conns, r.Conn)
	}
	if len(conns) != 4 || conns[2] != 0 || conns[3] != 1 {
		t.Errorf("over the connections %v", conns)
	}
	c.Close()
	if got := c.Post(told("https://"+e.Address+"/", ample)); !got.Delivered {
		t.Errorf("under way when closed: %+v", got)
	}
}
