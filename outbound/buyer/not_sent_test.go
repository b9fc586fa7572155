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

// In each row a post and a ping fail before the first byte is sent.
func TestUnreachableEndpointIsNotSent(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	closed := dialtest.UnusedAddress(t)
	selfSigned := httptest.NewUnstartedServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	silent := startSilentEndpoint(t)
	rows := []struct {
		name    string
		trusted []netip.Prefix
		at      market.OutboundEndpoint
		within  time.Duration
		fault   market.OutboundRequestFault
	}{
		{"connection refused", loopback, market.OutboundEndpoint{URL: "http://" + closed + "/v1/post"}, longTimeout, market.FaultConnect},
		{"no such name", loopback, market.OutboundEndpoint{URL: "https://missing.invalid/v1/post"}, longTimeout, market.FaultResolve},
		{"self-signed certificate", loopback, market.OutboundEndpoint{URL: selfSigned.URL}, longTimeout, market.FaultTLS},
		{"TLS to a plain port", loopback, market.OutboundEndpoint{URL: "https://" + buyer.Address + "/"}, longTimeout, market.FaultTLS},
		{"TLS that never answers", loopback, market.OutboundEndpoint{URL: "https://" + silent + "/"}, shortTimeout, market.FaultTLS},
		{"private address", nil, market.OutboundEndpoint{URL: "https://" + buyer.Address + "/"}, longTimeout, market.FaultForbidden},
		{"private address by name", nil, market.OutboundEndpoint{URL: "https://localhost:" + port(buyer.Address) + "/"}, longTimeout, market.FaultForbidden},
		{"private address mapped to IPv6", nil, market.OutboundEndpoint{URL: "https://[::ffff:127.0.0.1]:" + port(buyer.Address) + "/"}, longTimeout, market.FaultForbidden},
		{"plain http outside the trusted networks", nil, market.OutboundEndpoint{URL: buyer.post()}, longTimeout, market.FaultForbidden},
		{"plain http to a public address", loopback, market.OutboundEndpoint{URL: "http://198.41.0.4/"}, longTimeout, market.FaultForbidden},
		{"deadline has passed", loopback, market.OutboundEndpoint{URL: buyer.post()}, -time.Second, market.FaultTimeout},
		{"no address", loopback, market.OutboundEndpoint{URL: "/v1/post"}, longTimeout, market.FaultEndpoint},
		{"unknown secret", loopback, market.OutboundEndpoint{URL: buyer.post(), Credential: "lost", Header: "Authorization"}, longTimeout, market.FaultCredential},
		{"credential in a header of the client", loopback, market.OutboundEndpoint{URL: buyer.post(), Credential: "lost", Header: "Content-length"}, longTimeout, market.FaultEndpoint},
		{"credential without a header", loopback, market.OutboundEndpoint{URL: buyer.post(), Credential: "lost"}, longTimeout, market.FaultEndpoint},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			client := newClient(t, func(o *Options) { o.TrustedNetworks = row.trusted })
			p := postTo("", row.within)
			p.Endpoint = row.at
			got := withoutElapsed(client.Post(p))
			want := market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: row.fault}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
			ping, outcome := pingTo("", row.within), "timeout "
			if ping.Endpoint = row.at; row.within == longTimeout {
				outcome = "error "
			}
			if got := verdict(client.Ping(ping)); got != outcome+row.fault.String() {
				t.Errorf("ping: got %s, want %s%s", got, outcome, row.fault)
			}
		})
	}
	if requests := buyer.Requests(); len(requests) != 0 {
		t.Errorf("the buyer got %d requests, want none", len(requests))
	}
}

// A trusted certificate works, and the client offers only HTTP/1.1.
func TestTLSTrustAndProtocol(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != "HTTP/1.1" || r.TLS.NegotiatedProtocol != "http/1.1" {
			t.Errorf("protocol %s, negotiated %q, want HTTP/1.1", r.Proto, r.TLS.NegotiatedProtocol)
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

	_, serverPort, _ := net.SplitHostPort(server.Listener.Addr().String())
	wrongName := client.Post(postTo("https://localhost:"+serverPort+"/", longTimeout))
	if wrongName.Verdict != market.VerdictNotSent || wrongName.Fault != market.FaultTLS {
		t.Errorf("a certificate for another name: got %+v, want not sent with a TLS fault", wrongName)
	}
}

// startSilentEndpoint returns an address whose connections the kernel opens, but that
// never answers.
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
