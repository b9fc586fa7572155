package buyer

import (
	"crypto/x509"
	"net/netip"
	"time"

	"pingpost/engine/market"
	"pingpost/server/dial"
)

// What applies where Options say nothing.
const (
	defaultMaxConns       = 512
	defaultMaxResponse    = 64 << 10
	defaultConnectTimeout = 3 * time.Second
	defaultConnWait       = time.Second
	defaultIdle           = 30 * time.Second
)

// Options say what a Client needs. Only Secrets has no default.
type Options struct {
	// Secrets gives the present value of a named credential. It is asked
	// before every attempt, from any goroutine.
	Secrets func(name string) (value string, ok bool)

	Trusted          []netip.Prefix // networks that private addresses and plain http are allowed in
	MaxConnsPerBuyer int            // connections to one host for pings, and as many for posts; 512
	MaxResponse      int            // bytes of an answer's body; 64 KiB
	ConnectTimeout   time.Duration  // for name, TCP and TLS together; 3 s
	ConnWait         time.Duration  // how long to wait where every connection to a host is in use; 1 s
	Idle             time.Duration  // how long an unused connection is kept; 30 s
	Roots            *x509.CertPool // authorities that are trusted; nil: the system's

	// TokenFailed is told why a token was not to be had, once for each request
	// for one: by the name of the client's secret, what went wrong (credential:
	// the status says it), and the status of the answer, zero without one. It
	// is called from any goroutine. Nil: nobody is told.
	TokenFailed func(secret string, fault market.Fault, status int)

	// Caught is told of a host that answers more than it was asked, whose connections
	// are used once from then on: see dial.Options. Nil: nobody is told.
	Caught func(host string)

	// Now is the clock for Retry-After, for the lives of tokens and for
	// Elapsed; time.Now. Deadlines are the network's business and always real
	// time.
	Now func() time.Time
}

// Client speaks to every buyer. Its methods may be called from any goroutine.
type Client struct {
	options  Options
	hosts    *dial.Hosts
	accounts accounts
	grants   grants
}

// New makes a client. It opens nothing yet.
func New(options Options) *Client {
	if options.Secrets == nil {
		panic("BUG: a buyer.Client without Secrets")
	}
	setDefault(&options.MaxConnsPerBuyer, defaultMaxConns)
	setDefault(&options.MaxResponse, defaultMaxResponse)
	setDefault(&options.ConnectTimeout, defaultConnectTimeout)
	setDefault(&options.ConnWait, defaultConnWait)
	setDefault(&options.Idle, defaultIdle)
	if options.Now == nil {
		options.Now = time.Now
	}
	c := &Client{options: options, hosts: dial.New(dial.Options{
		Trusted: options.Trusted, MaxConnsPerHost: options.MaxConnsPerBuyer, MaxResponse: options.MaxResponse,
		ConnectTimeout: options.ConnectTimeout, ConnWait: options.ConnWait, Idle: options.Idle, Roots: options.Roots,
		Caught: options.Caught,
	})}
	c.accounts.open = c.openAccount
	c.grants.fetch, c.grants.now = c.fetchToken, options.Now
	return c
}

// Post makes one attempt to deliver a lead, and returns when its outcome is
// known or the deadline has passed. It does not wait between sendings: at most
// it sends the same bytes again at once, because a kept connection was found
// closed, or because the credential had changed since it was read.
func (c *Client) Post(p *market.PostRequest) market.PostResult {
	begun := c.options.Now()
	result := c.attempt(p)
	result.Elapsed = c.options.Now().Sub(begun)
	return result
}

// Close drops the connections that are idle. Attempts in flight go on to their
// own end and keep no connection after it.
func (c *Client) Close() { c.hosts.Close() }

func setDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}
