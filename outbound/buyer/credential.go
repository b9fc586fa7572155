package buyer

import (
	"strings"
	"time"

	"pingpost/engine/market"
)

// credentialSource provides the credential that requests to one buyer carry. There is one
// implementation for each kind of credential. newBuyerEndpoint selects it. Both methods may block
// until the deadline, and any goroutine may call them.
type credentialSource interface {
	// credential returns the credential to send now, without its scheme. After a fault the
	// caller must not send the request.
	credential(deadline time.Time) (credential string, fault market.OutboundRequestFault)

	// renewAfter401 is called after a 401; refused is the credential that the request carried. It
	// tries to get another one, and reports whether the method credential would now return it.
	renewAfter401(refused string, deadline time.Time) (hasAnother bool)
}

// noCredential is the credentialSource for an endpoint that requires no credential.
type noCredential struct{}

func (noCredential) credential(time.Time) (string, market.OutboundRequestFault) {
	return "", market.FaultNone
}
func (noCredential) renewAfter401(string, time.Time) bool { return false }

// reservedHeaders are the HTTP headers that the exchange sets itself. Neither a credential nor
// an adapter protocol may set them.
var reservedHeaders = map[string]struct{}{
	"accept": {}, "connection": {}, "content-length": {}, "content-type": {}, "host": {},
	"idempotency-key": {}, "te": {}, "trailer": {}, "transfer-encoding": {}, "upgrade": {},
	"user-agent": {}, "x-pingpost-hops": {}, "x-pingpost-test": {}, "x-request-id": {},
}

// checkCredentialHeaderAndScheme returns FaultEndpoint if the header configured for the credential is
// reserved or malformed, or if its scheme is not printable ASCII. They could change the meaning of the
// request.
func checkCredentialHeaderAndScheme(e *market.OutboundEndpoint) market.OutboundRequestFault {
	if e.Credential == "" {
		return market.FaultNone
	}
	_, own := reservedHeaders[strings.ToLower(e.Header)]
	if own || !isHeaderName(e.Header) || !isPrintableASCII(e.Scheme) {
		return market.FaultEndpoint
	}
	return market.FaultNone
}

// isHeaderName reports whether the text is a valid header name (RFC 9110, 5.6.2).
func isHeaderName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isPrintableASCII reports whether a header value has only printable ASCII characters and
// spaces.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
