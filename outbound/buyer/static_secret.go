package buyer

import (
	"time"

	"pingpost/engine/market"
)

// staticSecret is the credentialSource for a configured secret: a bearer token or an API key. It
// reads the secret for every request, so a rotation applies at once. After a 401, a second request
// makes sense only if the secret was rotated in between.
type staticSecret struct {
	secrets func(name string) (string, bool)
	name    string
}

func (s staticSecret) credential(time.Time) (string, market.OutboundRequestFault) {
	secret, ok := s.secrets(s.name)
	if !ok || secret == "" || !isPrintableASCII(secret) {
		return "", market.FaultCredential
	}
	return secret, market.FaultNone
}

func (s staticSecret) renewAfter401(rejected string, deadline time.Time) (hasAnother bool) {
	secret, fault := s.credential(deadline)
	return fault == market.FaultNone && secret != rejected
}
