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
	"pingpost/outbound/dial/dialtest"
)

// ample is a deadline that nothing here is meant to run into.
const ample = 20 * time.Second

// open makes hosts that trust loopback.
func open(t *testing.T, change func(*Options)) *Hosts {
	t.Helper()
	options := Options{
		Trusted:  []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		MaxConns: 16, MaxResponse: 1 << 10, ConnectTimeout: ample, ConnWait: ample, Idle: ample,
	}
	if change != nil {
		change(&options)
	}
	hosts := New(options)
	t.Cleanup(hosts.Close)
	return hosts
}

// trusting makes hosts that trust a server's certificate as well.
func trusting(t *testing.T, server *httptest.Server) *Hosts {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return open(t, func(o *Options) { o.Roots = roots })
}

// overTLS is an endpoint with the certificate of a server.
func overTLS(t *testing.T, server *httptest.Server, replies ...dialtest.Reply) *dialtest.Endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return dialtest.ServeOn(t, tls.NewListener(ln, server.TLS), replies...)
}

func find(t *testing.T, hosts *Hosts, address string) *Target {
	t.Helper()
	target, fault := hosts.Find(Owner{}, address)
	if fault != market.FaultNone {
		t.Fatal(fault)
	}
	return target
}

// anything is a request that asks for nothing in particular.
func anything(deadline time.Time) *Request {
	return &Request{Text: []byte("POST / HTTP/1.1\r\nHost: blue.example\r\nContent-Length: 2\r\n\r\n{}"), Deadline: deadline}
}

// send sends such a request, and gives the answer's body.
func send(target *Target, repeatable bool) (Trip, string) {
	r := anything(time.Now().Add(ample))
	r.Repeatable = repeatable
	return ask(target, r)
}

func ask(target *Target, r *Request) (Trip, string) {
	var response fasthttp.Response
	done := target.Send(r, &response)
	return done, string(response.Body())
}

// TestSendAgain: over a new connection, once, and only what may be repeated.
func TestSendAgain(t *testing.T) {
	kept, silence := dialtest.Answers("200 OK", `1`), dialtest.BreaksOff("")
	for name, row := range map[string]struct {
		repeatable bool
		replies    []dialtest.Reply
		want       Trip
		sent       int
	}{
		"repeatable":     {true, []dialtest.Reply{silence, kept}, Trip{Sent: true, Status: 200}, 2},
		"not repeatable": {false, []dialtest.Reply{silence, kept}, Trip{Sent: true, Fault: market.FaultBroken, stale: true}, 1},
		"twice in vain":  {true, []dialtest.Reply{silence, silence, kept}, Trip{Sent: true, Fault: market.FaultBroken}, 2},
		"half an answer": {true, []dialtest.Reply{dialtest.BreaksOff("H"), kept}, Trip{Sent: true, Fault: market.FaultBroken}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.Listen(t, append([]dialtest.Reply{kept}, row.replies...)...)
			target := find(t, open(t, nil), "http://"+e.Address+"/")
			if done, _ := send(target, false); done.Status != 200 {
				t.Fatalf("an earlier request: %+v", done)
			}
			if done, _ := send(target, row.repeatable); done != row.want {
				t.Errorf("got %+v, want %+v", done, row.want)
			}
			if sent := len(e.Got()) - 1; sent != row.sent {
				t.Errorf("sent %d times, want %d", sent, row.sent)
			}
		})
	}
}

// TestStatusStandsAlone: the head of an answer counts, whatever becomes of its
// body.
func TestStatusStandsAlone(t *testing.T) {
	for name, row := range map[string]struct {
		reply dialtest.Reply
		want  Trip
	}{
		"huge":     {dialtest.Answers("200 OK", string(make([]byte, 2<<10))), Trip{Sent: true, Status: 200, Fault: market.FaultTooLarge}},
		"cut off":  {dialtest.BreaksOff("HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nhal"), Trip{Sent: true, Status: 410, Fault: market.FaultBroken}},
		"no HTTP":  {dialtest.BreaksOff("220 mail.example ESMTP\r\n\r\n"), Trip{Sent: true, Fault: market.FaultUnreadable}},
		"no end":   {dialtest.BreaksOff("HTTP/1.1 200 OK\r\n"), Trip{Sent: true, Fault: market.FaultBroken}},
		"big head": {dialtest.BreaksOff("HTTP/1.1 200 OK\r\nX: " + string(make([]byte, HeadLimit)) + "\r\n\r\n"), Trip{Sent: true, Fault: market.FaultTooLarge}},
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.Listen(t, row.reply)
			if done, _ := send(find(t, open(t, nil), "http://"+e.Address+"/"), true); done != row.want {
				t.Errorf("got %+v, want %+v", done, row.want)
			}
		})
	}
}

// TestKeep: above so many connections none is kept, whoever it is to; and what is
// closed leaves room for another.
func TestKeep(t *testing.T) {
	hosts := open(t, func(o *Options) { o.Keep = 3 })
	var busy []*Target
	for range 5 {
		e := dialtest.Listen(t, dialtest.Answers("200 OK", ``))
		busy = append(busy, find(t, hosts, "http://"+e.Address+"/"))
	}
	kept := func() (n int) {
		for _, target := range busy {
			all, idle := target.Connections()
			if all != idle {
				t.Fatalf("%d connections, %d idle", all, idle)
			}
			n += idle
		}
		return n
	}
	for _, target := range busy {
		send(target, true)
	}
	if n := kept(); n != 3 {
		t.Errorf("%d connections are kept", n)
	}
	busy[0].host.closeIdle()
	send(busy[4], true)
	if n := kept(); n != 3 {
		t.Errorf("%d connections are kept, after one was closed", n)
	}
	hosts.Close()
	if n := kept(); n != 0 || hosts.dialer.open.Load() != 0 {
		t.Errorf("%d connections are kept by hosts that are closed, %d are open", n, hosts.dialer.open.Load())
	}
}

// TestFresh: a request that hands something over uses a connection that was used a
// moment ago, or a new one. One that only asks may use an older one.
func TestFresh(t *testing.T) {
	const fresh = ample // by the clock of the test; the pool closes connections by the real one
	for _, row := range []struct {
		asks   bool
		unused time.Duration
		conns  []int
	}{
		{false, fresh, []int{0, 0, 0}},
		{false, fresh + 1, []int{0, 1, 2}},
		{true, fresh + 1, []int{0, 0, 0}},
	} {
		e := dialtest.Listen(t, dialtest.Answers("200 OK", ``))
		hosts := open(t, func(o *Options) { o.Fresh = fresh })
		now := time.Minute
		hosts.clock = func() time.Duration { return now }
		target := find(t, hosts, "http://"+e.Address+"/")
		for range 3 {
			r := anything(time.Now().Add(ample))
			r.Asks = row.asks
			if done, _ := ask(target, r); done != (Trip{Sent: true, Status: 200}) {
				t.Errorf("%+v", done)
			}
			now += row.unused
		}
		if got := overConns(e); !slices.Equal(got, row.conns) {
			t.Errorf("unused for %v, asks %v: connections %v, want %v", row.unused, row.asks, got, row.conns)
		}
		if all, idle := target.Connections(); all != 1 || idle != 1 {
			t.Errorf("%d connections, %d idle", all, idle)
		}
	}
}

// TestOwners: each owner has its own connections to a host, and its own limit. All
// owners share the knowledge that the host answers twice.
func TestOwners(t *testing.T) {
	e := dialtest.Listen(t, dialtest.Answers("200 OK", `1`), dialtest.Answers("200 OK", `1`),
		answersAlso(dialtest.Message("200 OK", `1`)), dialtest.Answers("200 OK", `1`))
	hosts := open(t, nil)
	var targets []*Target
	for _, owner := range []Owner{{Name: "a"}, {Name: "b"}, {Name: "a", Test: true}} {
		target, fault := hosts.Find(owner, "http://"+e.Address+"/")
		if fault != market.FaultNone {
			t.Fatal(fault)
		}
		targets = append(targets, target)
	}
	for _, target := range targets { // the last one catches the host
		send(target, true)
	}
	for _, target := range targets {
		send(target, true)
	}
	if got := overConns(e); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("connections %v", got)
	}
	hosts.Limit(map[string]int{"a": 3, "b": 2})
	late, _ := hosts.Find(Owner{Name: "b", Test: true}, "http://"+e.Address+"/")
	other, _ := hosts.Find(Owner{Name: "c"}, "http://"+e.Address+"/")
	for i, want := range []int{3, 2, 3, 2, hosts.options.MaxConns} {
		for _, pool := range append(targets, late, other)[i].host.pools {
			if pool.MaxConns != want {
				t.Errorf("owner %d may have %d connections, want %d", i, pool.MaxConns, want)
			}
		}
	}
}

// TestNameTurns: an address is judged when it is connected to. A name that was at
// a permitted one before, and passed whatever looked at it then, is of no use
// afterwards.
func TestNameTurns(t *testing.T) {
	e := dialtest.Listen(t, dialtest.Answers("200 OK", ``, "Connection: close"))
	_, port, _ := net.SplitHostPort(e.Address)
	hosts := open(t, func(o *Options) {
		o.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Resolver = dialtest.Names(t, "127.0.0.1", "127.0.0.2")
	})
	target := find(t, hosts, "http://hooks.example:"+port+"/")
	if done, _ := send(target, true); done != (Trip{Sent: true, Status: 200}) {
		t.Errorf("at the first address: %+v", done)
	}
	if done, _ := send(target, true); done != (Trip{Fault: market.FaultForbidden}) {
		t.Errorf("at the second one: %+v", done)
	}
}
