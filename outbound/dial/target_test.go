package dial

import (
	"net/netip"
	"strconv"
	"testing"
)

func TestIsPublic(t *testing.T) {
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
			if got := isPublicAddress(netip.MustParseAddr(text)); got != want {
				t.Errorf("public(%s) = %v", text, got)
			}
		}
	}
}

// The trusted networks allow private addresses and plain http, and only inside them.
func TestCheckAddress(t *testing.T) {
	d := &dialer{trustedNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10")}}
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
		if got := d.checkAddressAllowed(row.address, false) == nil; got != row.plain {
			t.Errorf("http to %s: %v", row.address, got)
		}
		if got := d.checkAddressAllowed(row.address, true) == nil; got != row.secure {
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
		if !ok || from != row.from || got.Authority != row.authority || got.Path != row.path {
			t.Errorf("%s: got %+v %+v %v", row.address, got, from, ok)
		}
	}
	for _, invalid := range []string{
		"", "blue.example", "//blue.example/", "ftp://blue.example/", "https:///v1", "https:blue.example", "https://user:pass@blue.example/",
		"https://user@blue.example/", "https://blue.example/#part", "https://blue.example:0/", "https://blue.example:70000/",
		"https://blue.example:x/", "https://bl\nue.example/", "https://blue.example\r\nX: y/",
	} {
		if got, from, ok := parseTarget(invalid); ok {
			t.Errorf("%q was accepted: %+v %+v", invalid, got, from)
		}
	}
}

// The number of remembered targets is limited, and addresses of one origin share a host.
func TestTargetCacheIsLimited(t *testing.T) {
	hosts := newHosts(t, nil)
	ping, _ := hosts.FindOrCreateTarget(ConnOwner{}, "https://blue.example/v1/ping")
	post, _ := hosts.FindOrCreateTarget(ConnOwner{}, "https://BLUE.example:443/v1/post")
	plain, _ := hosts.FindOrCreateTarget(ConnOwner{}, "http://blue.example/v1/post")
	if ping.host != post.host || ping.host == plain.host {
		t.Error("origins and hosts differ: want one host for each origin")
	}
	for i := range 2 * maxTargets {
		hosts.FindOrCreateTarget(ConnOwner{}, "https://blue.example/"+strconv.Itoa(i))
		if n := len(hosts.targets.byURL); n > maxTargets {
			t.Fatalf("%d targets are remembered", n)
		}
	}
}
