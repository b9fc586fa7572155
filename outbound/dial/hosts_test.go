package dial

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// longTimeout is a timeout that no test is meant to reach.
const longTimeout = 20 * time.Second

// newHosts returns hosts that trust loopback.
func newHosts(t *testing.T, change func(*Options)) *Hosts {
	t.Helper()
	options := Options{
		TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		MaxConns:        16, MaxResponse: 1 << 10, ConnectTimeout: longTimeout, ConnWait: longTimeout, IdleTimeout: longTimeout,
	}
	if change != nil {
		change(&options)
	}
	hosts := New(options)
	t.Cleanup(hosts.Close)
	return hosts
}

// newTLSHosts returns hosts that also trust a server's certificate.
func newTLSHosts(t *testing.T, server *httptest.Server) *Hosts {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return newHosts(t, func(o *Options) { o.RootCAs = roots })
}

// listenTLS opens an endpoint with the certificate of a server.
func listenTLS(t *testing.T, server *httptest.Server, replies ...dialtest.ReplyFunc) *dialtest.Endpoint {
	t.Helper()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	return dialtest.StartEndpointOn(t, tls.NewListener(ln, server.TLS), replies...)
}

func findTarget(t *testing.T, hosts *Hosts, address string) *Target {
	t.Helper()
	target, fault := hosts.FindOrCreateTarget(ConnOwner{}, address)
	if fault != market.FaultNone {
		t.Fatal(fault)
	}
	return target
}

// newRequest returns a small valid request.
func newRequest(deadline time.Time) *Request {
	return &Request{Raw: []byte("POST / HTTP/1.1\r\nHost: blue.example\r\nContent-Length: 2\r\n\r\n{}"), Deadline: deadline}
}

// sendRequest sends a small request and returns the answer's body.
func sendRequest(target *Target, repeatable bool) (SendResult, string) {
	r := newRequest(time.Now().Add(longTimeout))
	r.Repeatable = repeatable
	return sendTo(target, r)
}

func sendTo(target *Target, r *Request) (SendResult, string) {
	var response fasthttp.Response
	done := target.Send(r, &response)
	return done, string(response.Body())
}

// Send repeats a request over a new connection, once, and only if it is repeatable.
func TestResendOnlyIfRepeatable(t *testing.T) {
	answer, closed := dialtest.ReplyWithAnswer("200 OK", `1`), dialtest.WriteAndClose("")
	for name, row := range map[string]struct {
		repeatable bool
		replies    []dialtest.ReplyFunc
		want       SendResult
		sent       int
	}{
		"repeatable":     {true, []dialtest.ReplyFunc{closed, answer}, SendResult{Sent: true, Status: 200}, 2},
		"not repeatable": {false, []dialtest.ReplyFunc{closed, answer}, SendResult{Sent: true, Fault: market.FaultBroken, staleConn: true}, 1},
		"closed twice":   {true, []dialtest.ReplyFunc{closed, closed, answer}, SendResult{Sent: true, Fault: market.FaultBroken}, 2},
		"half an answer": {true, []dialtest.ReplyFunc{dialtest.WriteAndClose("H"), answer}, SendResult{Sent: true, Fault: market.FaultBroken}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.StartEndpoint(t, append([]dialtest.ReplyFunc{answer}, row.replies...)...)
			target := findTarget(t, newHosts(t, nil), "http://"+e.Address+"/")
			if done, _ := sendRequest(target, false); done.Status != 200 {
				t.Fatalf("an earlier request: %+v", done)
			}
			if done, _ := sendRequest(target, row.repeatable); done != row.want {
				t.Errorf("got %+v, want %+v", done, row.want)
			}
			if sent := len(e.Requests()) - 1; sent != row.sent {
				t.Errorf("sent %d times, want %d", sent, row.sent)
			}
		})
	}
}

// A complete head counts even if its body is missing or too large.
func TestStatusCountsWithoutBody(t *testing.T) {
	for name, row := range map[string]struct {
		reply dialtest.ReplyFunc
		want  SendResult
	}{
		"huge":     {dialtest.ReplyWithAnswer("200 OK", string(make([]byte, 2<<10))), SendResult{Sent: true, Status: 200, Fault: market.FaultTooLarge}},
		"cut off":  {dialtest.WriteAndClose("HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nhal"), SendResult{Sent: true, Status: 410, Fault: market.FaultBroken}},
		"no HTTP":  {dialtest.WriteAndClose("220 mail.example ESMTP\r\n\r\n"), SendResult{Sent: true, Fault: market.FaultUnreadable}},
		"no end":   {dialtest.WriteAndClose("HTTP/1.1 200 OK\r\n"), SendResult{Sent: true, Fault: market.FaultBroken}},
		"big head": {dialtest.WriteAndClose("HTTP/1.1 200 OK\r\nX: " + string(make([]byte, HeadLimit)) + "\r\n\r\n"), SendResult{Sent: true, Fault: market.FaultTooLarge}},
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.StartEndpoint(t, row.reply)
			if done, _ := sendRequest(findTarget(t, newHosts(t, nil), "http://"+e.Address+"/"), true); done != row.want {
				t.Errorf("got %+v, want %+v", done, row.want)
			}
		})
	}
}

// Above MaxKept connections to all hosts the pool closes further ones. A closed connection makes
// room for another.
func TestMaxKeptConnections(t *testing.T) {
	hosts := newHosts(t, func(o *Options) { o.MaxKept = 3 })
	var targets []*Target
	for range 5 {
		e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``))
		targets = append(targets, findTarget(t, hosts, "http://"+e.Address+"/"))
	}
	countKept := func() (n int) {
		for _, target := range targets {
			all, idle := target.CountConnsToHost()
			if all != idle {
				t.Fatalf("%d connections, %d idle", all, idle)
			}
			n += idle
		}
		return n
	}
	for _, target := range targets {
		sendRequest(target, true)
	}
	if n := countKept(); n != 3 {
		t.Errorf("%d connections are kept", n)
	}
	targets[0].host.closeIdleConns()
	sendRequest(targets[4], true)
	if n := countKept(); n != 3 {
		t.Errorf("%d connections are kept, after one was closed", n)
	}
	hosts.Close()
	if n := countKept(); n != 0 || hosts.dialer.openConns.Load() != 0 {
		t.Errorf("after Close %d connections are kept, %d are open", n, hosts.dialer.openConns.Load())
	}
}

// A post uses a new connection or one that was used a moment ago. A ping may use an older
// one.
func TestPostIdleTimeout(t *testing.T) {
	const idleTimeout = longTimeout // by the test's clock; the pool closes connections by the real one
	for _, row := range []struct {
		isPing bool
		unused time.Duration
		conns  []int
	}{
		{false, idleTimeout, []int{0, 0, 0}},
		{false, idleTimeout + 1, []int{0, 1, 2}},
		{true, idleTimeout + 1, []int{0, 0, 0}},
	} {
		e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``))
		hosts := newHosts(t, func(o *Options) { o.PostIdleTimeout = idleTimeout })
		now := time.Minute
		hosts.clock = func() time.Duration { return now }
		target := findTarget(t, hosts, "http://"+e.Address+"/")
		for range 3 {
			r := newRequest(time.Now().Add(longTimeout))
			r.Ping = row.isPing
			if done, _ := sendTo(target, r); done != (SendResult{Sent: true, Status: 200}) {
				t.Errorf("%+v", done)
			}
			now += row.unused
		}
		if got := connNumbers(e); !slices.Equal(got, row.conns) {
			t.Errorf("unused for %v, ping %v: connections %v, want %v", row.unused, row.isPing, got, row.conns)
		}
		if all, idle := target.CountConnsToHost(); all != 1 || idle != 1 {
			t.Errorf("%d connections, %d idle", all, idle)
		}
	}
}

// Each owner has its own connections to a host, and its own limit. All owners share the
// knowledge that the host sends extra answers.
func TestOwnersHaveOwnConns(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", `1`), dialtest.ReplyWithAnswer("200 OK", `1`),
		answerFollowedBy(dialtest.FormatResponse("200 OK", `1`)), dialtest.ReplyWithAnswer("200 OK", `1`))
	hosts := newHosts(t, nil)
	var targets []*Target
	for _, owner := range []ConnOwner{{Name: "a"}, {Name: "b"}, {Name: "a", Test: true}} {
		target, fault := hosts.FindOrCreateTarget(owner, "http://"+e.Address+"/")
		if fault != market.FaultNone {
			t.Fatal(fault)
		}
		targets = append(targets, target)
	}
	for _, target := range targets { // the last one receives an extra answer
		sendRequest(target, true)
	}
	for _, target := range targets {
		sendRequest(target, true)
	}
	if got := connNumbers(e); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("connections %v", got)
	}
	hosts.SetConnLimits(map[string]int{"a": 3, "b": 2})
	late, _ := hosts.FindOrCreateTarget(ConnOwner{Name: "b", Test: true}, "http://"+e.Address+"/")
	other, _ := hosts.FindOrCreateTarget(ConnOwner{Name: "c"}, "http://"+e.Address+"/")
	for i, want := range []int{3, 2, 3, 2, hosts.options.MaxConns} {
		for _, pool := range append(targets, late, other)[i].host.pools {
			if pool.MaxConns != want {
				t.Errorf("owner %d may have %d connections, want %d", i, pool.MaxConns, want)
			}
		}
	}
}

// dial checks an address when it connects. A name that resolved to a permitted address
// before cannot reach a forbidden one later.
func TestAddressIsCheckedOnConnect(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``, "Connection: close"))
	_, port, _ := net.SplitHostPort(e.Address)
	hosts := newHosts(t, func(o *Options) {
		o.TrustedNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Resolver = dialtest.NewSequenceResolver(t, "127.0.0.1", "127.0.0.2")
	})
	target := findTarget(t, hosts, "http://hooks.example:"+port+"/")
	if done, _ := sendRequest(target, true); done != (SendResult{Sent: true, Status: 200}) {
		t.Errorf("at the first address: %+v", done)
	}
	if done, _ := sendRequest(target, true); done != (SendResult{Fault: market.FaultForbidden}) {
		t.Errorf("at the second address: %+v", done)
	}
}
