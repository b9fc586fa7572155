package dial

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// Options configure Hosts. Fields have no default unless the comment names one.
type Options struct {
	TrustedNetworks []netip.Prefix // networks in which private addresses and plain http are allowed
	MaxConns        int            // connections of one owner to one host; pings and other requests are counted separately
	MaxResponse     int            // largest body of an answer, in bytes
	ConnectTimeout  time.Duration  // for name resolution, TCP and TLS together
	ConnWait        time.Duration  // longest wait for a connection if all of an owner's are in use
	IdleTimeout     time.Duration  // how long an idle connection is kept
	PostIdleTimeout time.Duration  // the same for requests other than pings; 0: as IdleTimeout
	MaxKept         int            // open connections of all owners, above which used ones are closed; 0: no limit
	RootCAs         *x509.CertPool // trusted authorities; nil: the system's
	Resolver        *net.Resolver  // nil: the system's name servers, queried by Go itself

	// OnExtraAnswer receives the name and port of a host that sent an extra answer. Any
	// goroutine calls it, once per period of distrust. It can be nil.
	OnExtraAnswer func(host string)
}

// ConnOwner is the party for which connections are opened: a buyer, or one shared owner for all
// other requests. An owner never uses, or waits for, connections of another owner to the same
// host.
type ConnOwner struct {
	Name string // the buyer's name; empty: one owner shared by all other callers
	Test bool   // connections to the buyer's test endpoint
}

// Hosts sends requests to all hosts and reuses the connections to them. Any goroutine may call
// its methods.
type Hosts struct {
	options Options
	dialer  *dialer
	targets targetCache
	closed  atomic.Bool
	clock   func() time.Duration // time since New
}

// New returns Hosts, which open connections only when requests need them.
func New(options Options) *Hosts {
	resolver := options.Resolver
	if resolver == nil {
		resolver = &net.Resolver{PreferGo: true} // the C library's resolver blocks a thread past the deadline
	}
	began := time.Now()
	hs := &Hosts{options: options, clock: func() time.Duration { return time.Since(began) }, dialer: &dialer{
		trustedNetworks: options.TrustedNetworks, timeout: options.ConnectTimeout, resolver: resolver,
		tls: &tls.Config{
			RootCAs:            options.RootCAs,
			MinVersion:         tls.VersionTLS12,
			NextProtos:         []string{"http/1.1"},
			ClientSessionCache: tls.NewLRUClientSessionCache(0),
		},
	}}
	if hs.options.PostIdleTimeout <= 0 {
		hs.options.PostIdleTimeout = options.IdleTimeout
	}
	hs.targets.newHost, hs.targets.defaultLimit = hs.newHostConns, options.MaxConns
	return hs
}

// FindOrCreateTarget returns the target through which an owner sends requests to an address. It returns
// FaultEndpoint if the address is invalid. Configurations are validated, but a delivery in the
// log may have an address that predates the validation.
func (hs *Hosts) FindOrCreateTarget(owner ConnOwner, address string) (*Target, market.OutboundRequestFault) {
	return hs.targets.findOrCreate(owner, address)
}

// SetConnLimits sets how many connections the owners with these names may open to one host, in
// place of Options.MaxConns. Surplus connections stay open until they are closed for other
// reasons. The caller must not change the map afterwards.
func (hs *Hosts) SetConnLimits(limitByOwnerName map[string]int) {
	hs.targets.setConnLimits(limitByOwnerName)
}

// Close closes the idle connections. Requests in flight continue, and then close theirs.
func (hs *Hosts) Close() {
	hs.closed.Store(true)
	hs.targets.closeIdleConns()
}

// isOpenAndWithinMaxKept reports whether a connection may stay open after its request. It may not after
// Close, or if more than MaxKept connections are open.
func (hs *Hosts) isOpenAndWithinMaxKept() bool {
	return !hs.closed.Load() && (hs.options.MaxKept <= 0 || hs.dialer.openConns.Load() <= int64(hs.options.MaxKept))
}
