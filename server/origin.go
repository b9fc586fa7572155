package server

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// origins tells whom requests and connections come from. Anyone can write
// X-Forwarded-For, so it is read from its end, which the nearest proxy has written,
// and only as long as who has written it is trusted: the first address that is no
// trusted proxy's is the caller's. What stands before that is the caller's own tale.
// Where a proxy has written something that is no address, it is the caller itself.
//
// Forwarded (RFC 7239) and X-Real-IP are not read: of two headers that disagree one
// would have to be believed, and only one is what proxies write by default.
type origins struct {
	proxies atomic.Pointer[[]netip.Prefix]
}

// mostForwards bounds how far back a request is followed.
const mostForwards = 32

// trust says whose word counts from now on.
func (o *origins) trust(proxies []netip.Prefix) { o.proxies.Store(&proxies) }

func (o *origins) trusts(address netip.Addr) bool {
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

// of is the address of whoever has sent the request.
func (o *origins) of(ctx *fasthttp.RequestCtx) netip.Addr {
	from := addressOf(ctx.RemoteAddr())
	if !o.trusts(from) {
		return from
	}
	lines := ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor)
	for range mostForwards {
		if len(lines) == 0 {
			return from
		}
		last := len(lines) - 1
		comma := bytes.LastIndexByte(lines[last], ',')
		said, ok := parseForwarded(string(lines[last][comma+1:]))
		if comma < 0 {
			lines = lines[:last]
		} else {
			lines[last] = lines[last][:comma]
		}
		if !ok {
			return from
		}
		if from = said; !o.trusts(from) {
			return from
		}
	}
	return from
}

// parseForwarded reads an address as proxies write it: bare, in brackets, or with a
// port.
func parseForwarded(text string) (netip.Addr, bool) {
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

// addressOf is a connection's other end; the zero address where it has none.
func addressOf(end net.Addr) netip.Addr {
	tcp, ok := end.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// networkOf is what one caller is counted by: an address, or for IPv6 the network
// that one customer is given whole.
func networkOf(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits)
	return prefix
}
