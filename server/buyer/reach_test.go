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
)

// TestUnreached is whatever ends an attempt before a byte of it is sent: the
// buyer certainly does not have the lead.
func TestUnreached(t *testing.T) {
	gone := listen(t, answers("201 Created", `{}`))
	closed := freeAddress(t)
	selfSigned := httptest.NewUnstartedServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	mute := silent(t)
	rows := []struct {
		name    string
		trusted []netip.Prefix
		at      market.Endpoint
		within  time.Duration
		fault   market.Fault
	}{
		{"connection refused", loopback, market.Endpoint{URL: "http://" + closed + "/v1/post"}, ample, market.FaultConnect},
		{"no such name", loopback, market.Endpoint{URL: "https://nobody.invalid/v1/post"}, ample, market.FaultResolve},
		{"self-signed certificate", loopback, market.Endpoint{URL: selfSigned.URL}, ample, market.FaultTLS},
		{"TLS to a plain port", loopback, market.Endpoint{URL: "https://" + gone.address + "/"}, ample, market.FaultTLS},
		{"TLS that never answers", loopback, market.Endpoint{URL: "https://" + mute + "/"}, soon, market.FaultTLS},
		{"private address", nil, market.Endpoint{URL: "https://" + gone.address + "/"}, ample, market.FaultForbidden},
		{"private address by name", nil, market.Endpoint{URL: "https://localhost:" + port(gone.address) + "/"}, ample, market.FaultForbidden},
		{"private address in IPv6 clothes", nil, market.Endpoint{URL: "https://[::ffff:127.0.0.1]:" + port(gone.address) + "/"}, ample, market.FaultForbidden},
		{"plain http outside the trusted networks", nil, market.Endpoint{URL: gone.post()}, ample, market.FaultForbidden},
		{"plain http to a public address", loopback, market.Endpoint{URL: "http://198.41.0.4/"}, ample, market.FaultForbidden},
		{"deadline has passed", loopback, market.Endpoint{URL: gone.post()}, -time.Second, market.FaultTimeout},
		{"no address", loopback, market.Endpoint{URL: "/v1/post"}, ample, market.FaultEndpoint},
		{"unknown secret", loopback, market.Endpoint{URL: gone.post(), Credential: "lost", Header: "Authorization"}, ample, market.FaultCredential},
		{"credential for a header of ours", loopback, market.Endpoint{URL: gone.post(), Credential: "lost", Header: "Content-length"}, ample, market.FaultEndpoint},
		{"credential for no header", loopback, market.Endpoint{URL: gone.post(), Credential: "lost"}, ample, market.FaultEndpoint},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			client := newClient(t, func(o *Options) { o.Trusted = row.trusted })
			p := leadTo("", row.within)
			p.Endpoint = row.at
			got := withoutElapsed(client.Post(p))
			want := market.PostResult{Verdict: market.VerdictUnreached, Fault: row.fault}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
		})
	}
	if requests := gone.got(); len(requests) != 0 {
		t.Errorf("the buyer got %d requests, want none", len(requests))
	}
}

// TestTLS shows the trusted way, and that nothing but HTTP/1.1 is offered.
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
	client := newClient(t, func(o *Options) { o.Roots = roots })

	for range 2 {
		if got := client.Post(leadTo(server.URL+"/v1/post", ample)); got.Verdict != accepted || got.BuyerLeadID != "b1" {
			t.Fatalf("got %+v, want accepted", got)
		}
	}

	_, other, _ := net.SplitHostPort(server.Listener.Addr().String())
	wrongName := client.Post(leadTo("https://localhost:"+other+"/", ample))
	if wrongName.Verdict != market.VerdictUnreached || wrongName.Fault != market.FaultTLS {
		t.Errorf("a certificate for another name: got %+v, want unreached", wrongName)
	}
}

// TestStaleTLS: a server that ends an idle TLS connection says so, and that is
// no answer.
func TestStaleTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"lead_id":"b1"}`))
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := newClient(t, func(o *Options) { o.Roots = roots })
	for i := range 3 {
		if got := client.Post(leadTo(server.URL, ample)); got.Verdict != accepted {
			t.Fatalf("post %d: got %+v, want accepted", i, got)
		}
		server.CloseClientConnections()
	}
}

func TestPublic(t *testing.T) {
	rows := map[bool][]string{
		true: {
			"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
			"192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "64:ff9b::1.1.1.1", "::ffff:1.1.1.1",
		},
		false: {
			"0.0.0.0", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
			"172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.1.1.1",
			"240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
			"::127.0.0.1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
		},
	}
	for want, addresses := range rows {
		for _, text := range addresses {
			if got := public(netip.MustParseAddr(text)); got != want {
				t.Errorf("public(%s) = %v", text, got)
			}
		}
	}
}

// TestPermit: the trusted networks open private addresses, and plain http, and
// only in them.
func TestPermit(t *testing.T) {
	d := newDialer([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10")}, time.Second, &tls.Config{})
	rows := []struct {
		address string
		plain   bool // allowed over http
		secure  bool // allowed over https
	}{
		{"10.1.2.3:80", true, true},
		{"[::ffff:10.1.2.3]:80", true, true},
		{"[fe80::1%eth0]:80", true, true},
		{"10.2.0.1:443", false, false},
		{"127.0.0.1:443", false, false},
		{"1.1.1.1:443", false, true},
		{"[2606:4700::1111]:443", false, true},
		{"name.example:443", false, false},
	}
	for _, row := range rows {
		if got := d.permit(row.address, false) == nil; got != row.plain {
			t.Errorf("http to %s: %v", row.address, got)
		}
		if got := d.permit(row.address, true) == nil; got != row.secure {
			t.Errorf("https to %s: %v", row.address, got)
		}
	}
}

func TestParseTarget(t *testing.T) {
	rows := []struct {
		address         string
		authority, path string
		from            origin
	}{
		{"https://blue.example/v1/post", "blue.example", "/v1/post", origin{true, "blue.example", "443"}},
		{"http://Blue.Example", "Blue.Example", "/", origin{false, "blue.example", "80"}},
		{"https://blue.example:8443/a//b/../c%2Fd?x=1&y=%20", "blue.example:8443", "/a//b/../c%2Fd?x=1&y=%20", origin{true, "blue.example", "8443"}},
		{"https://[2001:db8::1]:8443/", "[2001:db8::1]:8443", "/", origin{true, "2001:db8::1", "8443"}},
	}
	for _, row := range rows {
		got, from, ok := parseTarget(row.address)
		if !ok || from != row.from || got.authority != row.authority || got.path != row.path {
			t.Errorf("%s: got %+v %+v %v", row.address, got, from, ok)
		}
	}
	for _, wrong := range []string{
		"", "blue.example", "//blue.example/", "ftp://blue.example/", "https:///v1", "https:blue.example", "https://user:pass@blue.example/",
		"https://user@blue.example/", "https://blue.example/#part", "https://blue.example:0/", "https://blue.example:70000/",
		"https://blue.example:x/", "https://bl\nue.example/", "https://blue.example\r\nX: y/",
	} {
		if got, from, ok := parseTarget(wrong); ok {
			t.Errorf("%q was taken: %+v %+v", wrong, got, from)
		}
	}
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// silent is an address where connections are taken and nothing is ever said:
// the kernel takes them, nobody accepts.
func silent(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}
