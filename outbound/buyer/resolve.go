package buyer

import (
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/outbound/dial"
)

// resolvedRequest is the account and the body of a request after secrets have replaced the
// placeholders in them. It remembers the secrets, so that redact can find them in the answer.
type resolvedRequest struct {
	account *account
	body    []byte
	secrets []string // the secrets in the address, the headers and the body

	credential string // the last one that was sent
}

// resolveSecrets replaces placeholders in address, headers and body by secrets, and finds the
// account for the result. It runs for every attempt, so a rotated secret applies to the next
// one. It returns FaultCredential if a secret has no value or contains characters that are
// invalid there.
//
// The account depends on the resolved address, so an account with an old secret is not used
// again.
func (c *Client) resolveSecrets(owner dial.Owner, e *market.Endpoint, body []byte) (out resolvedRequest, fault market.Fault) {
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
	out.account, fault = c.accounts.findOrCreate(owner, to)
	return out, fault
}

// maxSecret is the greatest length of a secret in bytes. It limits by how much each placeholder
// enlarges a body.
const maxSecret = 4096

// minRedactedSecret is the length from which a secret is searched for in answers. An answer can
// contain a shorter one by chance.
const minRedactedSecret = 4

// redact returns a text from the buyer's answer, or "" if the text contains a secret that the
// request contained. The result is logged and displayed.
func (o *resolvedRequest) redact(text string) string {
	if containsSecret(text, o.credential) {
		return ""
	}
	for _, secret := range o.secrets {
		if containsSecret(text, secret) {
			return ""
		}
	}
	return text
}

func containsSecret(text, secret string) bool {
	return len(secret) >= minRedactedSecret && len(text) >= len(secret) && strings.Contains(strings.ToLower(text), strings.ToLower(secret))
}
