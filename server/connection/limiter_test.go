package connection

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// stubConn is a connection with a remote address.
type stubConn struct {
	net.Conn
	address net.Addr
}

func (f stubConn) RemoteAddr() net.Addr { return f.address }

func (stubConn) Close() error { return nil }

func TestClientNetwork(t *testing.T) {
	tcp := func(address string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address)) }
	for _, row := range []struct {
		address net.Addr
		want    string
	}{
		{tcp("192.0.2.7:1"), "192.0.2.7/32"},
		{tcp("[::ffff:192.0.2.7]:1"), "192.0.2.7/32"},
		{tcp("[2001:db8:1:2:3:4:5:6]:1"), "2001:db8:1:2::/64"},
		{tcp("[2001:db8:1:2:ffff::]:1"), "2001:db8:1:2::/64"},
		{tcp("[fe80::1%eth0]:1"), "fe80::/64"},
		{&net.UnixAddr{Name: "x"}, "invalid Prefix"},
	} {
		if got := peerNetworkOf(stubConn{address: row.address}).String(); got != row.want {
			t.Errorf("%v: %s, want %s", row.address, got, row.want)
		}
	}
}

// A connection counts until its first Close. The limiter keeps nothing of closed
// connections.
func TestLimiterCountsConnsOnce(t *testing.T) {
	c := NewLimiter(nil, 3, 2, nil, nil)
	a, b := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	admit := func(p netip.Prefix, want bool) *LimitedConn {
		t.Helper()
		g := &LimitedConn{Conn: stubConn{}, limiter: c, network: p}
		if got, _ := c.admitConn(g); got != want {
			t.Errorf("connection from %v admitted: %v, want %v", p, got, want)
		}
		g.markAuthenticated()
		return g
	}
	first := admit(a, true)
	second := admit(a, true)
	admit(a, false)
	third := admit(b, true)
	admit(b, false)
	for range 3 {
		must.Succeed(t, first.Close())
	}
	fourth := admit(b, true)
	admit(b, false)
	for _, g := range []*LimitedConn{second, third, fourth} {
		must.Succeed(t, g.Close())
	}
	if c.open != 0 || len(c.perNetwork)+len(c.unauthenticated) != 0 {
		t.Errorf("after all were closed: %d open, %v, %v", c.open, c.perNetwork, c.unauthenticated)
	}
}

// failingListener is a listener whose Accept returns these errors, then a connection, then
// net.ErrClosed.
type failingListener struct {
	net.Listener
	errs []error
	done bool
}

func (l *failingListener) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	if l.done {
		return nil, net.ErrClosed
	}
	l.done = true
	return stubConn{address: &net.TCPAddr{}}, nil
}

// While the system has no descriptors or memory, Accept waits, each time longer up to a
// second, reports it once a minute, and continues.
func TestAcceptRetriesWhileOutOfDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shortages := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}
		for range 5 {
			shortages = append(shortages, syscall.EMFILE)
		}
		reports := 0
		c := NewLimiter(&failingListener{errs: shortages}, 3, 3, nil, func(error) { reports++ })
		begun := time.Now()
		if conn, err := c.Accept(); conn == nil || err != nil {
			t.Fatalf("%v, %v", conn, err)
		}
		// 5 10 20 40 80 160 320 640 1000 1000 ms
		if waited := time.Since(begun); waited != 3275*time.Millisecond || reports != 1 {
			t.Errorf("waited %s with %d reports, want 3.275s and 1", waited, reports)
		}
		if conn, err := c.Accept(); conn != nil || !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed listener: got %v, %v, want net.ErrClosed", conn, err)
		}
		c.Listener = &failingListener{errs: []error{syscall.EMFILE}}
		if _, err := c.Accept(); err != nil || reports != 1 {
			t.Errorf("within a minute: %v, %d reports, want 1", err, reports)
		}
		time.Sleep(reportEvery)
		c.Listener = &failingListener{errs: []error{syscall.EMFILE}}
		if _, err := c.Accept(); err != nil || reports != 2 {
			t.Errorf("after a minute: %v, %d reports, want 2", err, reports)
		}
		c = NewLimiter(&failingListener{errs: []error{syscall.EINVAL}}, 3, 3, nil, nil)
		if _, err := c.Accept(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("other error: got %v, want EINVAL", err)
		}
	})
}

// If the system has no descriptors, an unauthenticated connection is closed to get one.
func TestOutOfDescriptorsEvictsIdleConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewLimiter(&failingListener{errs: []error{syscall.EMFILE}}, 3, 3, nil, func(error) {})
		idle := newConn(stubConn{address: &net.TCPAddr{}}, c)
		c.admitConn(idle)
		if _, err := c.Accept(); err != nil || !idle.removed.Load() || c.open != 1 {
			t.Errorf("%v, removed %v, %d open; want the idle connection removed", err, idle.removed.Load(), c.open)
		}
	})
}

// At the limit, a new connection replaces the unauthenticated one that was idle longest,
// and never an authenticated one.
func TestLimitEvictsLongestIdleUnauthenticatedConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewLimiter(nil, 4, 10, nil, nil)
		var conns []*LimitedConn
		open := func() (g, evicted *LimitedConn, admitted bool) {
			server, client := net.Pipe()
			t.Cleanup(func() { server.Close(); client.Close() })
			go func() { _, _ = io.Copy(io.Discard, client) }()
			g = newConn(server, c)
			admitted, evicted = c.admitConn(g)
			time.Sleep(time.Minute)
			return g, evicted, admitted
		}
		for range 4 {
			g, _, _ := open()
			conns = append(conns, g)
		}
		conns[0].markAuthenticated()
		must.Value(fmt.Fprint(conns[1], "activity"))(t)
		time.Sleep(time.Minute)
		var newConns []*LimitedConn
		for _, want := range []*LimitedConn{conns[2], conns[3], conns[1]} {
			g, evicted, admitted := open()
			if !admitted || evicted != want || c.open != 4 {
				t.Errorf("admitted %v, evicted the right one %v, %d open", admitted, evicted == want, c.open)
			}
			g.markAuthenticated()
			newConns = append(newConns, g)
		}
		if _, evicted, admitted := open(); admitted || evicted != nil {
			t.Errorf("all connections are authenticated: admitted %v, evicted %v", admitted, evicted)
		}
		for _, g := range append(newConns, conns...) {
			must.Succeed(t, g.Close())
		}
		if c.open != 0 || len(c.perNetwork)+len(c.unauthenticated) != 0 {
			t.Errorf("after all were closed: %d open, %v, %v", c.open, c.perNetwork, c.unauthenticated)
		}
	})
}

func TestLimitPerNetworkRejectsConn(t *testing.T) {
	c := NewLimiter(nil, 2, 1, nil, nil)
	first := newConn(stubConn{address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, c)
	second := newConn(stubConn{address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, c)
	c.admitConn(first)
	if admitted, evicted := c.admitConn(second); admitted || evicted != nil {
		t.Errorf("second connection of the network: admitted %v, evicted %v", admitted, evicted)
	}
}
