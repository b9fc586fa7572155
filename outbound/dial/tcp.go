package dial

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// TCPDialer opens connections for protocols other than HTTP, to the same addresses as requests:
// public ones if the connection is encrypted, and the trusted networks.
type TCPDialer struct {
	TrustedNetworks []netip.Prefix
	Resolver        *net.Resolver // nil: the system's name servers, queried by Go itself
}

// Dial opens a TCP connection, and gives up when ctx ends. It makes no TLS handshake. callerAddsTLS
// says that the caller uses TLS on it, at once or after a command that it requires. Otherwise Dial
// connects only to the trusted networks.
func (d *TCPDialer) Dial(ctx context.Context, host string, port int, callerAddsTLS bool) (net.Conn, error) {
	policy := dialer{trustedNetworks: d.TrustedNetworks}
	inner := net.Dialer{
		Resolver: d.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return policy.checkAddressAllowed(address, callerAddsTLS)
		},
	}
	if inner.Resolver == nil {
		inner.Resolver = &net.Resolver{PreferGo: true}
	}
	return inner.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}
