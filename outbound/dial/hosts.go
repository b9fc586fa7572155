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

// Options say how Hosts are reached. Nothing has a default but what says so.
type Options struct {
	Trusted        []netip.Prefix // networks that private addresses and plain http are allowed in
	MaxConns       int            // connections of an owner to one host, for each of the two sorts of requests (see Request.Asks)
	MaxResponse    int            // bytes of an answer's body
	ConnectTimeout time.Duration  // for name, TCP and TLS together
	ConnWait       time.Duration  // how long to wait where every connection of an owner is in use
	Idle           time.Duration  // how long an unused connection is kept
	Fresh          time.Duration  // the same for connections of requests that hand something over; 0: as Idle
	Keep           int            // connections of all owners together, above which none is kept for later; 0: no limit
	Roots          *x509.CertPool // authorities that are trusted; nil: the system's
	Resolver       *net.Resolver  // of names; nil: the system's servers, asked by Go itself

	// Caught is told of a host, as name and port, that has sent more than it was asked
	// for: from any goroutine, once while it is wary. Nil: nobody is told.
	Caught func(host string)
}

// Owner is the holder of connections. No owner uses or waits for the connections of
// another one, at the same host too.
type Owner struct {
	Name string // of a buyer; empty: one owner that all others share
	Test bool   // the connections to a buyer's test endpoint
}

// Hosts are those that a client speaks to, each with its connections. Methods may
// be called from any goroutine.
type Hosts struct {
	options Options
	dialer  *dialer
	targets targets
	closed  atomic.Bool
	clock   func() time.Duration // since it was made
}

// New opens nothing yet.
func New(options Options) *Hosts {
	resolver := options.Resolver
	if resolver == nil {
		resolver = &net.Resolver{PreferGo: true} // the C library's keeps a thread past any deadline
	}
	began := time.Now()
	hs := &Hosts{options: options, clock: func() time.Duration { return time.Since(began) }, dialer: &dialer{
		trusted: options.Trusted, timeout: options.ConnectTimeout, resolver: resolver,
		tls: &tls.Config{
			RootCAs:            options.Roots,
			MinVersion:         tls.VersionTLS12,
			NextProtos:         []string{"http/1.1"},
			ClientSessionCache: tls.NewLRUClientSessionCache(0),
		},
	}}
	if hs.options.Fresh <= 0 {
		hs.options.Fresh = options.Idle
	}
	hs.targets.open, hs.targets.usual = hs.openHost, options.MaxConns
	return hs
}

// Find gives an owner's target at an address, which is FaultEndpoint if it is none: it
// was checked when it was configured, but what is sent may be older than the
// check.
func (hs *Hosts) Find(owner Owner, address string) (*Target, market.Fault) {
	return hs.targets.find(owner, address)
}

// Limit sets Options.MaxConns anew for the owners with these names. Connections over
// a lower limit stay until they are closed. The map is not changed afterwards.
func (hs *Hosts) Limit(byName map[string]int) { hs.targets.limit(byName) }

// Close drops the connections that are idle. Requests in flight go on to their
// own end and keep no connection after it.
func (hs *Hosts) Close() {
	hs.closed.Store(true)
	hs.targets.closeIdle()
}

// keeps tells whether a connection that has served may be kept for the next
// request.
func (hs *Hosts) keeps() bool {
	return !hs.closed.Load() && (hs.options.Keep <= 0 || hs.dialer.open.Load() <= int64(hs.options.Keep))
}
