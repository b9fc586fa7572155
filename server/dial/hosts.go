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
	Trusted         []netip.Prefix // networks that private addresses and plain http are allowed in
	MaxConnsPerHost int            // connections to one host, for each of the two sorts of requests (see Request.Asks)
	MaxResponse     int            // bytes of an answer's body
	ConnectTimeout  time.Duration  // for name, TCP and TLS together
	ConnWait        time.Duration  // how long to wait where every connection to a host is in use
	Idle            time.Duration  // how long an unused connection is kept
	Keep            int            // connections to all hosts together, above which none is kept for later; 0: no limit
	Roots           *x509.CertPool // authorities that are trusted; nil: the system's
	Resolver        *net.Resolver  // of names; nil: the system's servers, asked by Go itself

	// Caught is told of a host, as name and port, that has sent more than it was asked
	// for: from any goroutine, once while it is wary. Nil: nobody is told.
	Caught func(host string)
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
	hs.targets.open = hs.openHost
	return hs
}

// Find gives the target of an address, which is FaultEndpoint if it is none: it
// was checked when it was configured, but what is sent may be older than the
// check.
func (hs *Hosts) Find(address string) (*Target, market.Fault) { return hs.targets.find(address) }

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
