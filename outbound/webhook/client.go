package webhook

import (
	"crypto/x509"
	"net"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/outbound/dial"
)

const (
	// maxAnswer bounds what is read of an answer. Nobody looks at it; it is read
	// so that the connection can serve again.
	maxAnswer = 64 << 10

	idle = 30 * time.Second

	// maxKept bounds the connections that are kept, to all endpoints together.
	maxKept = 1024
)

// ClientOptions say what a Client needs. Only Secrets has no default.
type ClientOptions struct {
	// Secrets gives the present value of a named secret. It is asked at every
	// attempt, from any goroutine.
	Secrets func(name string) (value string, ok bool)

	Trusted  []netip.Prefix // networks that private addresses and plain http are allowed in
	Roots    *x509.CertPool // authorities that are trusted; nil: the system's
	Resolver *net.Resolver  // of names; nil: the system's servers
}

// Client speaks to suppliers' endpoints. Its methods may be called from any
// goroutine.
type Client struct {
	secrets func(name string) (string, bool)
	hosts   *dial.Hosts
}

// NewClient makes a client. It opens nothing yet.
func NewClient(o ClientOptions) *Client {
	if o.Secrets == nil {
		panic("BUG: a webhook.Client without Secrets")
	}
	return &Client{secrets: o.Secrets, hosts: dial.New(dial.Options{
		TrustedNetworks: o.Trusted, RootCAs: o.Roots, Resolver: o.Resolver, MaxKept: maxKept,
		// As many as there can be attempts, so that nobody waits for a connection;
		// an attempt's deadline is shorter than any of the times.
		MaxConns: defaultInAll, ConnWait: patience, ConnectTimeout: patience,
		MaxResponse: maxAnswer, IdleTimeout: idle,
	})}
}

// Post makes one attempt, and returns when its outcome is known or the deadline
// has passed.
//
// A 2xx acknowledges as soon as its head is there, whatever becomes of the body:
// the contract asks for nothing in it, and to tell again what was acknowledged
// mends no body. Everything else is a failure, 3xx (never followed) and 410
// included: it has the answer's status, or the fault for which there was none.
//
// Without a secret nothing is sent: what is not signed may be anybody's.
func (c *Client) Post(r *market.WebhookRequest) market.WebhookResult {
	began := time.Now()
	result := c.post(r, began)
	result.Elapsed = time.Since(began)
	return result
}

func (c *Client) post(r *market.WebhookRequest, now time.Time) market.WebhookResult {
	address, ok := escape.AppendResolved(nil, []byte(r.Endpoint.URL), c.secrets)
	if !ok {
		return market.WebhookResult{Fault: market.FaultCredential}
	}
	target, fault := c.hosts.Find(dial.Owner{}, string(address))
	if fault != market.FaultNone {
		return market.WebhookResult{Fault: fault}
	}
	keys := c.keys(r.Endpoint.Credential)
	if len(keys) == 0 {
		return market.WebhookResult{Fault: market.FaultCredential}
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	request := dial.Request{Raw: compose(target, r, keys, now.Unix()), Deadline: r.Deadline, Repeatable: true} // it has an id
	done := target.Send(&request, response)
	if done.Status >= 200 && done.Status <= 299 {
		return market.WebhookResult{Delivered: true, Status: done.Status}
	}
	return market.WebhookResult{Status: done.Status, Fault: done.Fault}
}

// Close drops the connections that are idle. Attempts in flight go on to their
// own end and keep no connection after it.
func (c *Client) Close() { c.hosts.Close() }
