package market

import "time"

// PostRequest is one attempt to deliver a lead to a buyer. Every attempt of one
// delivery carries the same key and the same bytes, so that a buyer that has
// taken the lead already can say so again and never takes it twice.
type PostRequest struct {
	Endpoint  Endpoint
	Key       string    // Idempotency-Key; empty where the endpoint knows none
	RequestID RequestID // for the buyer's logs and ours
	Body      []byte    // read only, and no longer used once the attempt has returned
	Deadline  time.Time // when the attempt is given up, whatever it is doing
	Test      bool      // X-Pingpost-Test: it is a test lead

	Traceparent string // W3C's header of that name, of a request that is traced; empty: it is not sent
}

// PostResult is what one attempt came to.
type PostResult struct {
	Verdict     Verdict
	Fault       Fault         // why there was no answer to go by; FaultNone when there was
	Status      int           // of the answer; 0 without one
	BuyerLeadID string        // the buyer's own id of the lead: printable ASCII, at most 128 bytes; may be empty
	Code        string        // error or reject_reason of the answer: printable ASCII, at most 64 bytes
	RetryAfter  time.Duration // of a 429, at most a day; a second where the buyer did not say
	Elapsed     time.Duration

	// Final matters where an earlier attempt may have reached the buyer: it
	// tells whether a refusal by this one settles the matter. A refusal that
	// is not final says something of the caller or of the key, and nothing of
	// what became of the lead before.
	Final bool
}

// Verdict says whether the buyer has the lead after an attempt. Whoever decides
// what to do next looks at nothing else. Numbers are in the log and never
// change.
type Verdict uint8

const (
	VerdictAccepted  Verdict = 1 // it has
	VerdictRefused   Verdict = 2 // it was asked, and certainly has not
	VerdictUnreached Verdict = 3 // nothing was sent: it certainly has not
	VerdictUnknown   Verdict = 4 // it may have
	VerdictBusy      Verdict = 5 // it certainly has not, and may take it after RetryAfter
	verdictEnd       Verdict = 6
)

var verdictNames = [verdictEnd]string{"none", "accepted", "refused", "unreached", "unknown", "busy"}

func (v Verdict) String() string {
	if v >= verdictEnd {
		return "unknown_verdict"
	}
	return verdictNames[v]
}

// Fault says what went wrong where a buyer gave no answer to go by. It is for
// operators: a label of metrics and logs, bounded and free of secrets. Numbers
// are in the log and never change.
type Fault uint8

const (
	FaultNone       Fault = 0
	FaultEndpoint   Fault = 1  // the configured address cannot be used
	FaultCredential Fault = 2  // the credential is missing, cannot stand in a header, or no token was to be had for it
	FaultResolve    Fault = 3  // the name has no address
	FaultForbidden  Fault = 4  // the address is in a network that is not trusted
	FaultConnect    Fault = 5  // no connection
	FaultTLS        Fault = 6  // no trust in the certificate, or no handshake
	FaultCrowded    Fault = 7  // every connection allowed to this host is in use
	FaultTimeout    Fault = 8  // the deadline passed
	FaultBroken     Fault = 9  // the connection broke
	FaultTooLarge   Fault = 10 // the answer is over the limit
	FaultUnreadable Fault = 11 // the answer is no HTTP, or no JSON object where one is owed
	FaultMalformed  Fault = 12 // the answer is a JSON object, but not what is owed
	faultEnd        Fault = 13
)

var faultNames = [faultEnd]string{
	"none", "endpoint", "credential", "resolve", "forbidden", "connect", "tls",
	"crowded", "timeout", "broken", "too_large", "unreadable", "malformed",
}

func (f Fault) String() string {
	if f >= faultEnd {
		return "unknown_fault"
	}
	return faultNames[f]
}
