package dial

import "net/netip"

// isPublicAddress reports whether an IP address is reachable from the whole internet. Addresses
// of this machine, of its networks and of a cloud's metadata service are not. The rule follows
// IANA's special-purpose registries (RFC 6890 and its updates).
func isPublicAddress(addr netip.Addr) bool {
	addr = normalizeAddr(addr)
	reserved := reservedIPv6
	switch {
	case addr.Is4():
		reserved = reservedIPv4
	case nat64.Contains(addr):
		bytes := addr.As16()
		return isPublicAddress(netip.AddrFrom4([4]byte(bytes[12:])))
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

// normalizeAddr returns an IP address in the form in which it is compared with prefixes: IPv4
// inside IPv6 as plain IPv4, and without a zone.
func normalizeAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// globalIPv6 contains all unicast addresses that IANA has assigned so far. Loopback,
// link-local, unique local and multicast addresses are outside.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// nat64 is the prefix of IPv6 addresses that contain an IPv4 address in their last 32 bits. A
// gateway of the network translates them.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

var reservedIPv4 = mustParsePrefixes(
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

var reservedIPv6 = mustParsePrefixes(
	"2001::/23",     // protocol assignments, Teredo
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4: an IPv4 address inside
	"3fff::/20",     // documentation
)

func mustParsePrefixes(texts ...string) []netip.Prefix {
	networks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}
