package clientaddr

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"pgregory.net/rapid"

	"pingpost/server/servertest"
)

// resolve returns the client address of a request from peer with these X-Forwarded-For
// headers.
func resolve(o *Resolver, peer string, lines ...string) string {
	ctx := new(fasthttp.RequestCtx)
	ctx.Init(new(fasthttp.Request), net.TCPAddrFromAddrPort(netip.MustParseAddrPort(peer)), nil)
	for _, line := range lines {
		ctx.Request.Header.Add("X-Forwarded-For", line)
	}
	return o.ClientAddress(ctx).String()
}

// The trusted proxies are 10.0.0.0/8 and 2001:db8:1::/48.
func TestClientAddressBehindProxies(t *testing.T) {
	o := new(Resolver)
	o.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("10.0.0.0/8"), servertest.ParseNetwork("2001:db8:1::/48")})
	for _, row := range []struct {
		name, peer string
		headers    []string
		want       string
	}{
		{"no proxy", "192.0.2.1:5", nil, "192.0.2.1"},
		{"no proxy, forged header", "192.0.2.1:5", []string{"198.51.100.9"}, "192.0.2.1"},
		{"a proxy without the header", "10.0.0.1:5", nil, "10.0.0.1"},
		{"a proxy", "10.0.0.1:5", []string{"198.51.100.9"}, "198.51.100.9"},
		{"forged address before the proxy's", "10.0.0.1:5", []string{"203.0.113.1, 198.51.100.9"}, "198.51.100.9"},
		{"forged proxy before the proxy's address", "10.0.0.1:5", []string{"203.0.113.1, 10.9.9.9, 198.51.100.9"}, "198.51.100.9"},
		{"two proxies", "10.0.0.1:5", []string{"198.51.100.9, 10.0.0.2"}, "198.51.100.9"},
		{"two proxies, two headers", "10.0.0.1:5", []string{"198.51.100.9", "10.0.0.2"}, "198.51.100.9"},
		{"forged address in another header", "10.0.0.1:5", []string{"203.0.113.1", "198.51.100.9"}, "198.51.100.9"},
		{"only proxies", "10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a port", "10.0.0.1:5", []string{"198.51.100.9:4711"}, "198.51.100.9"},
		{"no space", "10.0.0.1:5", []string{"203.0.113.1,198.51.100.9"}, "198.51.100.9"},
		{"much space", "10.0.0.1:5", []string{"203.0.113.1 ,\t 198.51.100.9 \t"}, "198.51.100.9"},
		{"IPv6", "[2001:db8:1::1]:5", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		{"IPv6 in brackets", "[2001:db8:1::1]:5", []string{"[2001:db8:2::9]"}, "2001:db8:2::9"},
		{"IPv6 with a port", "[2001:db8:1::1]:5", []string{"[2001:db8:2::9]:443"}, "2001:db8:2::9"},
		{"IPv6 through IPv4", "10.0.0.1:5", []string{"2001:db8:2::9, 2001:db8:1::2"}, "2001:db8:2::9"},
		{"IPv4 written as IPv6", "[::ffff:10.0.0.1]:5", []string{"::ffff:198.51.100.9"}, "198.51.100.9"},
		{"a zone", "10.0.0.1:5", []string{"fe80::1%eth0"}, "fe80::1"},
		{"no address", "10.0.0.1:5", []string{"unknown"}, "10.0.0.1"},
		{"hidden", "10.0.0.1:5", []string{"198.51.100.9, _hidden"}, "10.0.0.1"},
		{"no address before a proxy", "10.0.0.1:5", []string{"198.51.100.9, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"empty last address", "10.0.0.1:5", []string{"198.51.100.9,"}, "10.0.0.1"},
		{"empty", "10.0.0.1:5", []string{""}, "10.0.0.1"},
		{"five numbers", "10.0.0.1:5", []string{"198.51.100.9.7"}, "10.0.0.1"},
		{"quotes", "10.0.0.1:5", []string{`"198.51.100.9"`}, "10.0.0.1"},
		{"many hops", "10.0.0.1:5", []string{"198.51.100.9" + strings.Repeat(", 10.0.0.2", 30)}, "198.51.100.9"},
		{"too many hops", "10.0.0.1:5", []string{"198.51.100.9" + strings.Repeat(", 10.0.0.2", 5000)}, "10.0.0.2"},
	} {
		if got := resolve(o, row.peer, row.headers...); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	o.SetTrustedProxies(nil)
	if got := resolve(o, "10.0.0.1:5", "198.51.100.9"); got != "10.0.0.1" {
		t.Errorf("proxy removed from the list: got %s, want its own address", got)
	}
}

// The address that the proxy appends is used, regardless of the text that the client
// sends.
func TestClientCannotForgeItsAddress(t *testing.T) {
	o := new(Resolver)
	o.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("10.0.0.0/8")})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"10.0.0.7", "198.51.100.1", "unknown", "", ",", "[", "]", ":", "[::1]:x", "%", "fe80::%1", "1", " ",
		}), 0, 8)
		forged := strings.Join(words.Draw(t, "forged"), rapid.SampledFrom([]string{",", ", ", " "}).Draw(t, "between"))
		if got := resolve(o, "10.0.0.1:5", forged+", 198.51.100.9"); got != "198.51.100.9" {
			t.Fatalf("header %q through a proxy: got %s", forged, got)
		}
		if got := resolve(o, "192.0.2.1:5", forged); got != "192.0.2.1" {
			t.Fatalf("header %q without a proxy: got %s", forged, got)
		}
	})
}
