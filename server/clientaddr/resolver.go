package clientaddr

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// Resolver finds the client address of a request. Any client can write X-Forwarded-For, so
// Resolver reads the header from its end, which the nearest proxy wrote, and continues only
// while the writer is a trusted proxy. The first address that is not a trusted proxy's is
// the client. Addresses before it are the client's own claim. If a proxy wrote something
// else than an address, the proxy itself is the client.
//
// Forwarded (RFC 7239) and X-Real-IP are not read: two headers may disagree, and
// X-Forwarded-For is the one that proxies write by default.
type Resolver struct {
	proxies atomic.Pointer[[]netip.Prefix]
}

// maxForwards is the greatest number of addresses in X-Forwarded-For that ClientAddress
// follows.
const maxForwards = 32

// SetTrustedProxies replaces the networks of trusted proxies. Only their X-Forwarded-For headers
// count.
func (o *Resolver) SetTrustedProxies(proxies []netip.Prefix) { o.proxies.Store(&proxies) }

func (o *Resolver) IsTrustedProxy(address netip.Addr) bool {
	proxies := o.proxies.Load()
	if proxies == nil {
		return false
	}
	for _, proxy := range *proxies {
		if proxy.Contains(address) {
			return true
		}
	}
	return false
}

// ClientAddress returns the address of the client that sent the request.
func (o *Resolver) ClientAddress(ctx *fasthttp.RequestCtx) netip.Addr {
	from := FromRemoteAddr(ctx.RemoteAddr())
	if !o.IsTrustedProxy(from) {
		return from
	}
	lines := ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor)
	for range maxForwards {
		if len(lines) == 0 {
			return from
		}
		last := len(lines) - 1
		comma := bytes.LastIndexByte(lines[last], ',')
		forwarded, ok := parseForwardedAddress(string(lines[last][comma+1:]))
		if comma < 0 {
			lines = lines[:last]
		} else {
			lines[last] = lines[last][:comma]
		}
		if !ok {
			return from
		}
		if from = forwarded; !o.IsTrustedProxy(from) {
			return from
		}
	}
	return from
}

// parseForwardedAddress parses one address from X-Forwarded-For. Proxies write it bare, in brackets,
// or with a port.
func parseForwardedAddress(text string) (address netip.Addr, ok bool) {
	text = strings.Trim(text, " \t")
	address, err := netip.ParseAddr(text)
	if err != nil {
		if with, portErr := netip.ParseAddrPort(text); portErr == nil {
			address, err = with.Addr(), nil
		} else if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
			address, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		}
	}
	if err != nil {
		return netip.Addr{}, false
	}
	return address.Unmap().WithZone(""), true
}

// FromRemoteAddr returns the IP address of a connection's other end, or the zero address if it is no
// TCP connection.
func FromRemoteAddr(remoteAddr net.Addr) netip.Addr {
	tcp, ok := remoteAddr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// NetworkForLimits returns the network under which limits count a client: its single IPv4 address, or
// its IPv6 /64, which a provider assigns to one customer.
func NetworkForLimits(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits)
	return prefix
}
