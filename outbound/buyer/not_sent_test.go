package buyer

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// Each row ends a post and a ping before the first byte is sent.
func TestNotSent(t *testing.T) {
	gone := listen(t, answers("201 Created", `{}`))
	closed := dialtest.UnusedAddress(t)
	selfSigned := httptest.NewUnstartedServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	mute := startSilentEndpoint(t)
	rows := []struct {
		name    string
		trusted []netip.Prefix
		at      market.Endpoint
		within  time.Duration
		fault   market.RequestFault
	}{
		{"connection refused", loopback, market.Endpoint{URL: "http://" + closed + "/v1/post"}, longTimeout, market.FaultConnect},
		{"no such name", loopback, market.Endpoint{URL: "https://nobody.invalid/v1/post"}, longTimeout, market.FaultResolve},
		{"self-signed certificate", loopback, market.Endpoint{URL: selfSigned.URL}, longTimeout, market.FaultTLS},
		{"TLS to a plain port", loopback, market.Endpoint{URL: "https://" + gone.Address + "/"}, longTimeout, market.FaultTLS},
		{"TLS that never answers", loopback, market.Endpoint{URL: "https://" + mute + "/"}, shortTimeout, market.FaultTLS},
		{"private address", nil, market.Endpoint{URL: "https://" + gone.Address + "/"}, longTimeout, market.FaultForbidden},
		{"private address by name", nil, market.Endpoint{URL: "https://localhost:" + port(gone.Address) + "/"}, longTimeout, market.FaultForbidden},
		{"private address in IPv6 clothes", nil, market.Endpoint{URL: "https://[::ffff:127.0.0.1]:" + port(gone.Address) + "/"}, longTimeout, market.FaultForbidden},
		{"plain http outside the trusted networks", nil, market.Endpoint{URL: gone.post()}, longTimeout, market.FaultForbidden},
		{"plain http to a public address", loopback, market.Endpoint{URL: "http://198.41.0.4/"}, longTimeout, market.FaultForbidden},
		{"deadline has passed", loopback, market.Endpoint{URL: gone.post()}, -time.Second, market.FaultTimeout},
		{"no address", loopback, market.Endpoint{URL: "/v1/post"}, longTimeout, market.FaultEndpoint},
		{"unknown secret", loopback, market.Endpoint{URL: gone.post(), Credential: "lost", Header: "Authorization"}, longTimeout, market.FaultCredential},
		{"credential for a header of ours", loopback, market.Endpoint{URL: gone.post(), Credential: "lost", Header: "Content-length"}, longTimeout, market.FaultEndpoint},
		{"credential for no header", loopback, market.Endpoint{URL: gone.post(), Credential: "lost"}, longTimeout, market.FaultEndpoint},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			client := newClient(t, func(o *Options) { o.TrustedNetworks = row.trusted })
			p := postTo("", row.within)
			p.Endpoint = row.at
			got := withoutElapsed(client.Post(p))
			want := market.PostResult{Verdict: market.VerdictNotSent, Fault: row.fault}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
			ping, outcome := pingTo("", row.within), "timeout "
			if ping.Endpoint = row.at; row.within == longTimeout {
				outcome = "error "
			}
			if got := verdict(client.Ping(ping)); got != outcome+row.fault.String() {
				t.Errorf("a ping: %s, want %s%s", got, outcome, row.fault)
			}
		})
	}
	if requests := gone.Requests(); len(requests) != 0 {
		t.Errorf("the buyer got %d requests, want none", len(requests))
	}
}

// A trusted certificate works, and the client offers only HTTP/1.1.
func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != "HTTP/1.1" || r.TLS.NegotiatedProtocol != "http/1.1" {
			t.Errorf("spoken: %s, agreed on: %q", r.Proto, r.TLS.NegotiatedProtocol)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"lead_id":"b1"}`))
	}))
	server.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := newClient(t, func(o *Options) { o.RootCAs = roots })

	for range 2 {
		if got := client.Post(postTo(server.URL+"/v1/post", longTimeout)); got.Verdict != accepted || got.BuyerLeadID != "b1" {
			t.Fatalf("got %+v, want accepted", got)
		}
	}

	_, other, _ := net.SplitHostPort(server.Listener.Addr().String())
	wrongName := client.Post(postTo("https://localhost:"+other+"/", longTimeout))
	if wrongName.Verdict != market.VerdictNotSent || wrongName.Fault != market.FaultTLS {
		t.Errorf("a certificate for another name: got %+v, want unreached", wrongName)
	}
}

// silent is an address where connections are taken and nothing is ever said:
// the kernel takes them, nobody accepts.
func startSilentEndpoint(t *testing.T) string {
	t.Helper()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}
