package buyer

import (
	"crypto/x509"
	"net/netip"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// Defaults of Options.
const (
	defaultMaxResponse    = 64 << 10
	defaultConnectTimeout = 3 * time.Second
	defaultConnWait       = time.Second
	defaultPingIdle       = 30 * time.Second
)

// postIdleTimeout is the longest time for which a connection may be idle and still carry a
// post. Servers close idle connections, some after two seconds. If a post crosses that close,
// it is unknown whether the buyer read it. A ping may cross the close, because it buys no lead
// and is sent again.
const postIdleTimeout = time.Second

// maxKept is the number of open connections, to all buyers together, above which a connection
// is closed after its request. It limits memory and open files, and never blocks a request.
const maxKept = 8192

// Options configure a Client. Only Secrets is required.
type Options struct {
	// Secrets returns the current value of a named credential. The client calls it before
	// every attempt, from any goroutine.
	Secrets func(name string) (value string, ok bool)

	TrustedNetworks  []netip.Prefix // networks in which private addresses and plain http are allowed
	MaxConnsPerBuyer int            // for buyers that SetConnLimits does not name; default market.DefaultMaxConnections
	MaxResponse      int            // largest body of an answer in bytes; default 64 KiB
	ConnectTimeout   time.Duration  // for name resolution, TCP and TLS together; default 3 s
	ConnWait         time.Duration  // longest wait for a connection if all of a buyer's are in use; default 1 s
	PingIdleTimeout  time.Duration  // how long an idle connection for pings is kept; default 30 s
	RootCAs          *x509.CertPool // trusted authorities; nil: the system's

	// OnTokenFailure receives the reason of each failed token request: the name of the
	// OAuth client's secret, the fault, and the answer's status or zero. With FaultCredential,
	// the status is the reason, and zero means that the secret has no valid value. Any
	// goroutine calls it. It can be nil.
	OnTokenFailure func(secret string, fault market.OutboundRequestFault, status int)

	// OnExtraAnswer receives a host that sent an extra answer: see dial.Options. It can be
	// nil.
	OnExtraAnswer func(host string)

	// Now is the clock for Retry-After, for the lifetimes of tokens and for Elapsed;
	// default time.Now. Deadlines always use the real time.
	Now func() time.Time
}

// Client sends pings and posts to all buyers, and requests the OAuth tokens for them. Any goroutine
// may call its methods.
type Client struct {
	options      Options
	hosts        *dial.Hosts
	endpoints    buyerEndpointCache
	tokenSources tokenSources
}

// New returns a client, which opens connections only when it needs them.
func New(options Options) *Client {
	if options.Secrets == nil {
		panic("BUG: a buyer.Client without Secrets")
	}
	setIfNotPositive(&options.MaxConnsPerBuyer, market.DefaultMaxConnections)
	setIfNotPositive(&options.MaxResponse, defaultMaxResponse)
	setIfNotPositive(&options.ConnectTimeout, defaultConnectTimeout)
	setIfNotPositive(&options.ConnWait, defaultConnWait)
	setIfNotPositive(&options.PingIdleTimeout, defaultPingIdle)
	if options.Now == nil {
		options.Now = time.Now
	}
	c := &Client{options: options, hosts: dial.New(dial.Options{
		TrustedNetworks: options.TrustedNetworks, MaxConns: options.MaxConnsPerBuyer, MaxResponse: options.MaxResponse,
		ConnectTimeout: options.ConnectTimeout, ConnWait: options.ConnWait, IdleTimeout: options.PingIdleTimeout, RootCAs: options.RootCAs,
		PostIdleTimeout: postIdleTimeout, MaxKept: maxKept, OnExtraAnswer: options.OnExtraAnswer,
	})}
	c.endpoints.newEndpoint = c.newBuyerEndpoint
	c.tokenSources.fetch, c.tokenSources.now = c.requestTokenAndReportFailure, options.Now
	return c
}

// SetConnLimits sets how many connections the client may open to each buyer
// (market.Buyer.MaxConnections). The limit applies to pings and to posts separately, and
// separately again to the buyer's test endpoint.
func (c *Client) SetConnLimits(buyers map[market.BuyerID]*market.Buyer) {
	limits := make(map[string]int, len(buyers))
	for id, buyer := range buyers {
		limits[string(id)] = buyer.MaxConnections
	}
	c.hosts.SetConnLimits(limits)
}

// Post makes one attempt to post a lead to a buyer. It returns when the result is certain or
// the deadline passes. It never repeats a request of which a byte may have reached the buyer,
// because the engine decides about repeats.
func (c *Client) Post(p *market.BuyerPostRequest) market.BuyerPostResult {
	begun := c.options.Now()
	result := c.attemptPost(p)
	result.Elapsed = c.options.Now().Sub(begun)
	return result
}

// Close closes the idle connections. Requests in flight continue, and then close theirs.
func (c *Client) Close() { c.hosts.Close() }

func setIfNotPositive[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}
