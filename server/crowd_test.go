package server

import (
	"net"
	"net/netip"
	"testing"
)

// from is a connection from an address.
type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }
func (from) Close() error           { return nil }

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
		if got := origin(from{address: row.address}).String(); got != row.want {
			t.Errorf("%v: %s, want %s", row.address, got, row.want)
		}
	}
}

// TestCrowdCounts: a connection counts once until it is closed, however often
// that is done, and nothing is remembered of those who left.
func TestCrowdCounts(t *testing.T) {
	c := newCrowd(nil, 3, 2, nil)
	a, b := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	enter := func(p netip.Prefix, want bool) *guest {
		t.Helper()
		if got := c.enter(p); got != want {
			t.Errorf("%v enters: %v, want %v", p, got, want)
		}
		return &guest{Conn: from{}, crowd: c, from: p}
	}
	first := enter(a, true)
	second := enter(a, true)
	enter(a, false)
	third := enter(b, true)
	enter(b, false)
	for range 3 {
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fourth := enter(b, true)
	enter(b, false)
	for _, g := range []*guest{second, third, fourth} {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if c.open != 0 || len(c.from) != 0 {
		t.Errorf("%d open, %v", c.open, c.from)
	}
}
