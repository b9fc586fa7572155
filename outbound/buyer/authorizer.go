package buyer

import (
	"strings"
	"time"

	"pingpost/engine/market"
)

// authorizer proves to one buyer who is calling. There is one file for each
// kind of proof; the kind is the endpoint's choice (see openAccount). Both
// methods may take until the deadline, and are called from any goroutine.
type authorizer interface {
	// present gives the credential to send now, without its scheme. A fault
	// means that there is none to be had, and that nothing is to be sent.
	present(deadline time.Time) (credential string, fault market.Fault)

	// renew is told that the buyer answered 401 to this credential, and tells
	// whether present would give another one now.
	renew(refused string, deadline time.Time) bool
}

// anonymous is for an endpoint that asks for no credential.
type anonymous struct{}

func (anonymous) present(time.Time) (string, market.Fault) { return "", market.FaultNone }
func (anonymous) renew(string, time.Time) bool             { return false }

// ownHeaders are those that a credential may not take the place of.
var ownHeaders = map[string]struct{}{
	"accept": {}, "connection": {}, "content-length": {}, "content-type": {}, "host": {},
	"idempotency-key": {}, "te": {}, "trailer": {}, "transfer-encoding": {}, "upgrade": {},
	"user-agent": {}, "x-pingpost-hops": {}, "x-pingpost-test": {}, "x-request-id": {},
}

// checkHeader refuses an endpoint whose credential could not be put into its
// header without changing what the request means.
func checkHeader(e *market.Endpoint) market.Fault {
	if e.Credential == "" {
		return market.FaultNone
	}
	_, own := ownHeaders[strings.ToLower(e.Header)]
	if own || !isToken(e.Header) || !isPrintable(e.Scheme) {
		return market.FaultEndpoint
	}
	return market.FaultNone
}

// isToken tells whether the text can be a header's name (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isPrintable tells whether the text is printable ASCII throughout.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
