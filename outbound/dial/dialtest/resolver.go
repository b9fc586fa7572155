package dialtest

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"pingpost/internal/must"
)

// NewSequenceResolver returns a DNS resolver for tests. The first lookup gives the first address, the
// second one the second address, and so on; further lookups give the last address. It queries a
// DNS server on a real socket, so that tests cover the complete lookup.
func NewSequenceResolver(t *testing.T, addressPerLookup ...string) *net.Resolver {
	t.Helper()
	server := must.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = server.Close() })
	var lookups atomic.Int64
	go func() {
		query := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			at := func() netip.Addr {
				return netip.MustParseAddr(addressPerLookup[min(int(lookups.Add(1)), len(addressPerLookup))-1])
			}
			_, _ = server.WriteTo(dnsAnswer(query[:n], at), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// dnsAnswer returns the answer to a DNS query (RFC 1035, 4.1): the address that nextAddress returns for
// an IPv4 query, or no record for other queries.
func dnsAnswer(query []byte, nextAddress func() netip.Addr) []byte {
	const header, ipv4 = 12, 1
	end := header
	for query[end] != 0 { // the labels of the name
		end += 1 + int(query[end])
	}
	end += 1 + 4 // the root, type and class
	answer := append([]byte(nil), query[:end]...)
	copy(answer[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if binary.BigEndian.Uint16(query[end-4:]) != ipv4 {
		return answer
	}
	answer[7] = 1 // one record: the name above, IPv4, internet, for no time
	answer = append(answer, 0xc0, header, 0, ipv4, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(answer, nextAddress().AsSlice()...)
}
