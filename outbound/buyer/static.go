package buyer

import (
	"time"

	"pingpost/engine/market"
)

// static is a secret that an operator has set: a bearer token, or the API key
// of a legacy endpoint. It is read at every use, so a rotated one is in force
// at once, and a 401 is worth a second try only where it was rotated in between.
type static struct {
	secrets func(name string) (string, bool)
	name    string
}

func (s static) present(time.Time) (string, market.Fault) {
	secret, ok := s.secrets(s.name)
	if !ok || secret == "" || !isPrintable(secret) {
		return "", market.FaultCredential
	}
	return secret, market.FaultNone
}

func (s static) renew(refused string, _ time.Time) bool {
	secret, ok := s.secrets(s.name)
	return ok && secret != refused
}
