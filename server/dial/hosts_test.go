package dial

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/dial/dialtest"
)

// ample is a deadline that nothing here is meant to run into.
const ample = 20 * time.Second

// open makes hosts that trust loopback.
func open(t *testing.T, change func(*Options)) *Hosts {
	t.Helper()
	options := Options{
		Trusted:         []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		MaxConnsPerHost: 16, MaxResponse: 1 << 10, ConnectTimeout: ample, ConnWait: ample, Idle: ample,
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
	target, fault := hosts.Find(address)
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
		"repeatable":     {true, []dialtest.Reply{silence, kept}, Trip{Sent: true, Doubt: true, Status: 200}, 2},
		"not repeatable": {false, []dialtest.Reply{silence, kept}, Trip{Sent: true, Fault: market.FaultBroken, stale: true}, 1},
		"twice in vain":  {true, []dialtest.Reply{silence, silence, kept}, Trip{Sent: true, Doubt: true, Fault: market.FaultBroken}, 2},
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
