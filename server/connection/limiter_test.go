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

// from is a connection from an address.
type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }

func (from) Close() error { return nil }

func TestOrigin(t *testing.T) {
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
		if got := clientNetworkOf(from{address: row.address}).String(); got != row.want {
			t.Errorf("%v: %s, want %s", row.address, got, row.want)
		}
	}
}

// TestCrowdCounts: a connection counts once until it is closed, however often
// that is done, and nothing is remembered of those who left.
func TestCrowdCounts(t *testing.T) {
	c := NewLimiter(nil, 3, 2, nil, nil)
	a, b := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	enter := func(p netip.Prefix, want bool) *Conn {
		t.Helper()
		g := &Conn{Conn: from{}, limiter: c, network: p}
		if got, _ := c.admitConn(g); got != want {
			t.Errorf("%v enters: %v, want %v", p, got, want)
		}
		g.markAuthenticated()
		return g
	}
	first := enter(a, true)
	second := enter(a, true)
	enter(a, false)
	third := enter(b, true)
	enter(b, false)
	for range 3 {
		must.Succeed(t, first.Close())
	}
	fourth := enter(b, true)
	enter(b, false)
	for _, g := range []*Conn{second, third, fourth} {
		must.Succeed(t, g.Close())
	}
	if c.open != 0 || len(c.perNetwork)+len(c.unauthenticated) != 0 {
		t.Errorf("%d open, %v, %v", c.open, c.perNetwork, c.unauthenticated)
	}
}

// troubled is a listener whose Accept gives these errors, then a connection,
// then that it was closed.
type troubled struct {
	net.Listener
	errs []error
	done bool
}

func (l *troubled) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	if l.done {
		return nil, net.ErrClosed
	}
	l.done = true
	return from{address: &net.TCPAddr{}}, nil
}

// TestAcceptOutlivesShortage: while the system has no descriptor or memory left
// the crowd waits, longer each time up to a second, tells it once, and goes on.
func TestAcceptOutlivesShortage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}
		for range 5 {
			short = append(short, syscall.EMFILE)
		}
		told := 0
		c := NewLimiter(&troubled{errs: short}, 3, 3, nil, func(error) { told++ })
		begun := time.Now()
		if conn, err := c.Accept(); conn == nil || err != nil {
			t.Fatalf("%v, %v", conn, err)
		}
		// 5 10 20 40 80 160 320 640 1000 1000
		if waited := time.Since(begun); waited != 3275*time.Millisecond || told != 1 {
			t.Errorf("waited %s, told %d times", waited, told)
		}
		if conn, err := c.Accept(); conn != nil || !errors.Is(err, net.ErrClosed) {
			t.Errorf("of a listener that was closed: %v, %v", conn, err)
		}
		c.Listener = &troubled{errs: []error{syscall.EMFILE}}
		if _, err := c.Accept(); err != nil || told != 1 {
			t.Errorf("%v, told %d times within a minute", err, told)
		}
		time.Sleep(reportEvery)
		c.Listener = &troubled{errs: []error{syscall.EMFILE}}
		if _, err := c.Accept(); err != nil || told != 2 {
			t.Errorf("%v, told %d times in more", err, told)
		}
		c = NewLimiter(&troubled{errs: []error{syscall.EINVAL}}, 3, 3, nil, nil)
		if _, err := c.Accept(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a final error: %v", err)
		}
	})
}

// TestShortageEvicts: strangers that have taken all descriptors give one back.
func TestShortageEvicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewLimiter(&troubled{errs: []error{syscall.EMFILE}}, 3, 3, nil, func(error) {})
		idle := newConn(from{address: &net.TCPAddr{}}, c)
		c.admitConn(idle)
		if _, err := c.Accept(); err != nil || !idle.removed.Load() || c.open != 1 {
			t.Errorf("%v, gone %v, %d open", err, idle.removed.Load(), c.open)
		}
	})
}

// TestFullHouse: a newcomer takes the place of the stranger that was idle
// longest, never that of a guest who is known.
func TestFullHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewLimiter(nil, 4, 10, nil, nil)
		var guests []*Conn
		come := func() (g, evicted *Conn, in bool) {
			one, other := net.Pipe()
			t.Cleanup(func() { one.Close(); other.Close() })
			go func() { _, _ = io.Copy(io.Discard, other) }()
			g = newConn(one, c)
			in, evicted = c.admitConn(g)
			time.Sleep(time.Minute)
			return g, evicted, in
		}
		for range 4 {
			g, _, _ := come()
			guests = append(guests, g)
		}
		guests[0].markAuthenticated()
		must.Value(fmt.Fprint(guests[1], "still here"))(t)
		time.Sleep(time.Minute)
		var last []*Conn
		for _, want := range []*Conn{guests[2], guests[3], guests[1]} {
			g, evicted, in := come()
			if !in || evicted != want || c.open != 4 {
				t.Errorf("in %v, evicted the right one %v, %d open", in, evicted == want, c.open)
			}
			g.markAuthenticated()
			last = append(last, g)
		}
		if _, evicted, in := come(); in || evicted != nil {
			t.Errorf("in %v and %v evicted where all are known", in, evicted)
		}
		for _, g := range append(last, guests...) {
			must.Succeed(t, g.Close())
		}
		if c.open != 0 || len(c.perNetwork)+len(c.unauthenticated) != 0 {
			t.Errorf("%d open, %v, %v", c.open, c.perNetwork, c.unauthenticated)
		}
	})
}

func TestFullOfOneAddress(t *testing.T) {
	c := NewLimiter(nil, 2, 1, nil, nil)
	first := newConn(from{address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, c)
	second := newConn(from{address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}, c)
	c.admitConn(first)
	if in, evicted := c.admitConn(second); in || evicted != nil {
		t.Errorf("in %v, evicted %v", in, evicted)
	}
}
