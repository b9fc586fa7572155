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
	// maxAnswerBody limits the bytes read of an answer. The content is ignored. It is read
	// so that the connection can be reused.
	maxAnswerBody = 64 << 10

	idleTimeout = 30 * time.Second

	// maxKept limits the connections that are kept, to all endpoints together.
	maxKept = 1024
)

// ClientOptions configure a Client. Only Secrets is required.
type ClientOptions struct {
	// Secrets returns the current value of a named secret. The client calls it at every
	// attempt, from any goroutine.
	Secrets func(name string) (value string, ok bool)

	TrustedNetworks []netip.Prefix // networks in which private addresses and plain http are allowed
	RootCAs         *x509.CertPool // trusted authorities; nil: the system's
	Resolver        *net.Resolver  // nil: the system's name servers
}

// Client sends webhooks to suppliers' endpoints. Any goroutine may call its methods.
type Client struct {
	secrets func(name string) (string, bool)
	hosts   *dial.Hosts
}

// NewClient returns a client, which opens connections only when it needs them.
func NewClient(o ClientOptions) *Client {
	if o.Secrets == nil {
		panic("BUG: a webhook.Client without Secrets")
	}
	return &Client{secrets: o.Secrets, hosts: dial.New(dial.Options{
		TrustedNetworks: o.TrustedNetworks, RootCAs: o.RootCAs, Resolver: o.Resolver, MaxKept: maxKept,
		// There are as many connections as attempts, so no attempt waits for one. An
		// attempt's deadline is not longer than any of these times.
		MaxConns: defaultTotal, ConnWait: attemptTimeout, ConnectTimeout: attemptTimeout,
		MaxResponse: maxAnswerBody, IdleTimeout: idleTimeout,
	})}
}

// Post makes one attempt to send a webhook. It returns when the result is certain or the
// deadline passes.
//
// A 2xx acknowledges the webhook as soon as its head has arrived, even if its body fails. The
// contract requires no body, and another attempt would not repair one. Everything else is a
// failure, including 410 and redirects, which are never followed. The result has the HTTP
// status, or the fault if there was no answer.
//
// If the supplier's secret is missing or invalid, Post sends no request, because the receiver could
// not verify it.
func (c *Client) Post(r *market.WebhookRequest) market.WebhookAttemptResult {
	start := time.Now()
	result := c.signAndSend(r, start)
	result.Elapsed = time.Since(start)
	return result
}

func (c *Client) signAndSend(r *market.WebhookRequest, now time.Time) market.WebhookAttemptResult {
	address, ok := escape.AppendWithSecretsInserted(nil, []byte(r.Endpoint.URL), c.secrets)
	if !ok {
		return market.WebhookAttemptResult{Fault: market.FaultCredential}
	}
	target, fault := c.hosts.FindOrCreateTarget(dial.ConnOwner{}, string(address))
	if fault != market.FaultNone {
		return market.WebhookAttemptResult{Fault: fault}
	}
	keys := c.signingKeys(r.Endpoint.Credential)
	if len(keys) == 0 {
		return market.WebhookAttemptResult{Fault: market.FaultCredential}
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	request := dial.Request{Raw: encodeRequest(target, r, keys, now.Unix()), Deadline: r.Deadline, Repeatable: true} // the id makes it repeatable
	result := target.Send(&request, response)
	if result.Status >= 200 && result.Status <= 299 {
		return market.WebhookAttemptResult{Delivered: true, Status: result.Status}
	}
	return market.WebhookAttemptResult{Status: result.Status, Fault: result.Fault}
}

// Close closes the idle connections. Attempts in flight continue, and then close theirs.
func (c *Client) Close() { c.hosts.Close() }
