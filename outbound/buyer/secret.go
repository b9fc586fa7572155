package buyer

import (
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/outbound/dial"
)

// outgoing is a request with its secrets in their places.
type outgoing struct {
	account *account
	body    []byte
	secrets []string // those that the address, the headers and the body hold

	credential string // the last one that was sent
}

// prepare finds the account and puts secrets in the place of placeholders. It reads
// them at every attempt, so a rotated secret applies to the next one. The fault is
// FaultCredential where a secret has no value or cannot stand in its place.
//
// The account is the one of the resolved address: an account with an old secret is
// never used again.
func (c *Client) prepare(owner dial.Owner, e *market.Endpoint, body []byte) (out outgoing, fault market.Fault) {
	ok := true
	read := func(name string) (string, bool) {
		secret, known := c.options.Secrets(name)
		out.secrets = append(out.secrets, secret)
		return secret, known && len(secret) <= maxSecret
	}
	text := func(text string) string {
		if !escape.HasPlaceholder(text) {
			return text
		}
		resolved, is := escape.AppendWithSecrets(nil, []byte(text), read)
		ok = ok && is
		return string(resolved)
	}
	to := e
	if escape.HasPlaceholder(e.URL) || e.Dialect != nil && escape.HasPlaceholder(e.Dialect.Headers) {
		resolved := *e
		resolved.URL = text(e.URL)
		if e.Dialect != nil {
			dialect := *e.Dialect
			dialect.Headers = text(e.Dialect.Headers)
			resolved.Dialect = &dialect
		}
		to = &resolved
	}
	if out.body = body; e.Dialect != nil && escape.HasPlaceholder(body) {
		var is bool
		out.body, is = escape.AppendWithSecrets(nil, body, read)
		ok = ok && is
	}
	if !ok {
		return out, market.FaultCredential
	}
	out.account, fault = c.accounts.find(owner, to)
	return out, fault
}

// maxSecret bounds a secret, in bytes. A body grows by at most so much for each
// placeholder.
const maxSecret = 4096

// shortSecret is the length below which a text of an answer holds a secret by chance.
const shortSecret = 4

// withhold returns a text of the buyer's answer, or nothing where it repeats a secret
// that was sent: the text is logged and shown.
func (o *outgoing) withhold(text string) string {
	if repeats(text, o.credential) {
		return ""
	}
	for _, secret := range o.secrets {
		if repeats(text, secret) {
			return ""
		}
	}
	return text
}

func repeats(text, secret string) bool {
	return len(secret) >= shortSecret && len(text) >= len(secret) && strings.Contains(strings.ToLower(text), strings.ToLower(secret))
}
