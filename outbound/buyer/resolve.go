package buyer

import (
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/outbound/dial"
)

// resolvedRequest is the buyer endpoint and the body of a request after secrets have replaced the
// placeholders in them. It keeps the secrets, so that emptyIfContainsSecret finds them in the answer.
type resolvedRequest struct {
	endpoint *buyerEndpoint
	body     []byte
	secrets  []string // the secrets in the address, the headers and the body

	credential string // the last one that was sent
}

// resolveSecretsAndEndpoint replaces placeholders in address, headers and body by secrets, and finds
// the buyer endpoint for the result. It runs for every attempt, so a rotated secret applies to the next
// one. It returns FaultCredential if a secret has no value, is too long, or contains characters that
// are invalid there, and otherwise the fault of an unusable endpoint.
//
// The buyer endpoint depends on the resolved address, so a buyer endpoint with an old secret is not
// used again.
func (c *Client) resolveSecretsAndEndpoint(owner dial.ConnOwner, settings *market.OutboundEndpoint, body []byte) (out resolvedRequest, fault market.OutboundRequestFault) {
	ok := true
	read := func(name string) (string, bool) {
		secret, known := c.options.Secrets(name)
		out.secrets = append(out.secrets, secret)
		return secret, known && len(secret) <= maxSecret
	}
	text := func(text string) string {
		if !escape.HasSecretPlaceholder(text) {
			return text
		}
		resolved, is := escape.AppendWithSecretsInserted(nil, []byte(text), read)
		ok = ok && is
		return string(resolved)
	}
	to := settings
	if escape.HasSecretPlaceholder(settings.URL) || settings.AdapterProtocol != nil && escape.HasSecretPlaceholder(settings.AdapterProtocol.Headers) {
		resolved := *settings
		resolved.URL = text(settings.URL)
		if settings.AdapterProtocol != nil {
			protocol := *settings.AdapterProtocol
			protocol.Headers = text(settings.AdapterProtocol.Headers)
			resolved.AdapterProtocol = &protocol
		}
		to = &resolved
	}
	if out.body = body; settings.AdapterProtocol != nil && escape.HasSecretPlaceholder(body) {
		var is bool
		out.body, is = escape.AppendWithSecretsInserted(nil, body, read)
		ok = ok && is
	}
	if !ok {
		return out, market.FaultCredential
	}
	out.endpoint, fault = c.endpoints.findOrCreate(owner, to)
	return out, fault
}

// maxSecret is the greatest length of a secret in bytes. It limits by how much each placeholder
// enlarges a body.
const maxSecret = 4096

// minRedactedSecret is the length from which a secret is searched for in answers. An answer can
// contain a shorter one by chance.
const minRedactedSecret = 4

// emptyIfContainsSecret returns a text from the buyer's answer, or "" if the text contains a secret that
// the request contained. The result is logged and displayed.
func (o *resolvedRequest) emptyIfContainsSecret(text string) (safeText string) {
	if containsRedactableSecret(text, o.credential) {
		return ""
	}
	for _, secret := range o.secrets {
		if containsRedactableSecret(text, secret) {
			return ""
		}
	}
	return text
}

func containsRedactableSecret(text, secret string) bool {
	return len(secret) >= minRedactedSecret && len(text) >= len(secret) && strings.Contains(strings.ToLower(text), strings.ToLower(secret))
}
