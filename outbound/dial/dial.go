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

// dialer makes lines. It ends with TLS done, so that whatever can go wrong
// before a request has gone wrong here.
type dialer struct {
	trusted  []netip.Prefix
	timeout  time.Duration // for name, TCP and TLS together
	resolver *net.Resolver
	tls      *tls.Config
	open     atomic.Int64 // lines that are not closed yet
}

// dialError is a dial that failed, with its cause for operators.
type dialError struct {
	fault market.Fault
	cause error
}

func (e *dialError) Error() string { return e.fault.String() + ": " + e.cause.Error() }
func (e *dialError) Unwrap() error { return e.cause }

// dial connects to a host within limit, or within the dialer's own timeout
// where that is less or limit is zero (HostClient dials for a waiting request
// with none).
func (d *dialer) dial(o origin, limit time.Duration) (net.Conn, error) {
	if limit <= 0 || limit > d.timeout {
		limit = d.timeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()

	inner := net.Dialer{
		Resolver: d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return d.permit(address, o.secure)
		},
	}
	conn, err := inner.DialContext(ctx, "tcp", net.JoinHostPort(o.name, o.port))
	if err != nil {
		return nil, &dialError{connectFault(err), err}
	}
	bare := newWire(conn)
	if !o.secure {
		return d.newLine(bare, bare), nil
	}
	config := d.tls.Clone()
	config.ServerName = o.name
	sealed := tls.Client(bare, config)
	if err := sealed.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error is the one to tell
		return nil, &dialError{market.FaultTLS, err}
	}
	return d.newLine(sealed, bare), nil
}

func (d *dialer) newLine(conn net.Conn, bare *wire) *line {
	d.open.Add(1)
	return &line{Conn: conn, wire: bare, open: &d.open}
}

// permit judges the address that is about to be connected to.
func (d *dialer) permit(address string, secure bool) error {
	end, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	addr := plainAddr(end.Addr())
	for _, network := range d.trusted {
		if network.Contains(addr) {
			return nil
		}
	}
	if !secure || !public(addr) {
		return errForbidden
	}
	return nil
}
