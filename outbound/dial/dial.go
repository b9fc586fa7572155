package dial

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"pingpost/engine/market"
)

// dialer opens connections. It also completes the TLS handshake, so that every failure before
// the first byte of a request happens in the dialer.
type dialer struct {
	trustedNetworks []netip.Prefix
	timeout         time.Duration // limit for name resolution, TCP and TLS together
	resolver        *net.Resolver
	tls             *tls.Config
	openConns       atomic.Int64 // connections that are not closed yet
}

// dialError says that no connection could be opened: the fault for the buyer's statistics, and
// the cause for operators.
type dialError struct {
	fault market.OutboundRequestFault
	cause error
}

func (e *dialError) Error() string { return e.fault.String() + ": " + e.cause.Error() }
func (e *dialError) Unwrap() error { return e.cause }

// dial connects to the origin o within timeLimit, or within the dialer's own timeout if that is
// shorter or timeLimit is zero. (fasthttp's HostClient passes zero when it dials for a waiting
// request.) It returns an error if the resolved address is not allowed.
func (d *dialer) dial(o origin, timeLimit time.Duration) (net.Conn, error) {
	if timeLimit <= 0 || timeLimit > d.timeout {
		timeLimit = d.timeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()

	inner := net.Dialer{
		Resolver: d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return d.checkAddressAllowed(address, o.secure)
		},
	}
	conn, err := inner.DialContext(ctx, "tcp", net.JoinHostPort(o.name, o.port))
	if err != nil {
		return nil, &dialError{faultOfConnect(err), err}
	}
	socket := newSocketConn(conn)
	if !o.secure {
		return d.newCountedConn(socket, socket), nil
	}
	config := d.tls.Clone()
	config.ServerName = o.name
	overTLS := tls.Client(socket, config)
	if err := overTLS.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the caller needs the handshake's error
		return nil, &dialError{market.FaultTLS, err}
	}
	return d.newCountedConn(overTLS, socket), nil
}

func (d *dialer) newCountedConn(conn net.Conn, socket *socketConn) *outboundConn {
	d.openConns.Add(1)
	return &outboundConn{Conn: conn, socket: socket, openCount: &d.openConns}
}

// checkAddressAllowed returns errForbidden unless the exchange may connect to the resolved IP address.
// Trusted networks are allowed. Other addresses must be public, and the connection must use TLS
// (usesTLS).
func (d *dialer) checkAddressAllowed(resolvedAddress string, usesTLS bool) error {
	end, err := netip.ParseAddrPort(resolvedAddress)
	if err != nil {
		return errForbidden
	}
	addr := normalizeAddr(end.Addr())
	for _, network := range d.trustedNetworks {
		if network.Contains(addr) {
			return nil
		}
	}
	if !usesTLS || !isPublicAddress(addr) {
		return errForbidden
	}
	return nil
}
