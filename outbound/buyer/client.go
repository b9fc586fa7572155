package buyer

import (
	"crypto/x509"
	"net/netip"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// What applies where Options say nothing.
const (
	defaultMaxResponse    = 64 << 10
	defaultConnectTimeout = 3 * time.Second
	defaultConnWait       = time.Second
	defaultIdle           = 30 * time.Second
)

// fresh is how long a connection may be unused and still carry a post. Servers close
// unused connections, some after two seconds, and a post that meets the close may have
// been read. A ping may meet it: it buys nothing, and is sent again.
const fresh = time.Second

// maxKept bounds the connections that are kept, to all buyers together. Above it a
// connection is closed after use. It bounds memory and open files, and takes no
// connection from a buyer.
const maxKept = 8192

// Options say what a Client needs. Only Secrets has no default.
type Options struct {
	// Secrets gives the present value of a named credential. It is asked
	// before every attempt, from any goroutine.
	Secrets func(name string) (value string, ok bool)

	Trusted          []netip.Prefix // networks that private addresses and plain http are allowed in
	MaxConnsPerBuyer int            // of a buyer that SetLimits does not name; market.DefaultMaxConnections
	MaxResponse      int            // bytes of an answer's body; 64 KiB
	ConnectTimeout   time.Duration  // for name, TCP and TLS together; 3 s
	ConnWait         time.Duration  // how long to wait where every connection of a buyer is in use; 1 s
	Idle             time.Duration  // how long an unused connection for pings is kept; 30 s
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
	setDefault(&options.MaxConnsPerBuyer, market.DefaultMaxConnections)
	setDefault(&options.MaxResponse, defaultMaxResponse)
	setDefault(&options.ConnectTimeout, defaultConnectTimeout)
	setDefault(&options.ConnWait, defaultConnWait)
	setDefault(&options.Idle, defaultIdle)
	if options.Now == nil {
		options.Now = time.Now
	}
	c := &Client{options: options, hosts: dial.New(dial.Options{
		TrustedNetworks: options.Trusted, MaxConns: options.MaxConnsPerBuyer, MaxResponse: options.MaxResponse,
		ConnectTimeout: options.ConnectTimeout, ConnWait: options.ConnWait, IdleTimeout: options.Idle, RootCAs: options.Roots,
		PostIdleTimeout: fresh, MaxKept: maxKept, OnExtraAnswer: options.Caught,
	})}
	c.accounts.open = c.openAccount
	c.grants.fetch, c.grants.now = c.fetchToken, options.Now
	return c
}

// SetLimits sets how many connections each of these buyers may have for pings, and as
// many for posts: market.Buyer.MaxConnections. Its test endpoint may have as many again.
func (c *Client) SetLimits(buyers map[market.BuyerID]*market.Buyer) {
	limits := make(map[string]int, len(buyers))
	for id, buyer := range buyers {
		limits[string(id)] = buyer.MaxConnections
	}
	c.hosts.SetConnLimits(limits)
}

// Post sends a lead once, and returns when the outcome is known or the deadline
// has passed. It never repeats a send of which a byte may have reached the buyer:
// the engine decides about every repeat.
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
