package dial

import "net/netip"

// public tells whether an address is somewhere on the internet, and nowhere
// inside: neither this machine, nor its networks, nor a cloud's metadata
// service. It follows the special-purpose registries of IANA (RFC 6890 and its
// updates), and refuses what they do not call globally reachable.
func public(addr netip.Addr) bool {
	addr = plainAddr(addr)
	reserved := reservedIPv6
	switch {
	case addr.Is4():
		reserved = reservedIPv4
	case nat64.Contains(addr):
		bytes := addr.As16()
		return public(netip.AddrFrom4([4]byte(bytes[12:])))
	case !globalIPv6.Contains(addr):
		return false
	}
	for _, network := range reserved {
		if network.Contains(addr) {
			return false
		}
	}
	return true
}

// plainAddr writes an address in the one form that networks are compared with:
// an IPv4 address in IPv6 clothes without them, and without a zone, which no
// prefix would contain.
func plainAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// globalIPv6 is all that is given out as unicast addresses so far. What is not
// (loopback, link-local, unique local, multicast) lies outside.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// nat64 carries an IPv4 address in its last 32 bits, to which a gateway of the
// network sends it on.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

var reservedIPv4 = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, cloud metadata
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
)

var reservedIPv6 = prefixes(
	"2001::/23",     // protocol assignments, Teredo
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4: an IPv4 address inside
	"3fff::/20",     // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	networks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}
