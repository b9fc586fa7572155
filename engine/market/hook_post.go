package market

import "time"

// HookRequest is one attempt to tell a supplier of its lead. Every attempt of one
// event carries the same identifier and the same bytes; the signature is each
// attempt's own.
type HookRequest struct {
	Endpoint Endpoint  // its Credential names the secret that signs; without a URL nobody can be told
	ID       string    // of the event: webhook-id
	Body     []byte    // read only, and no longer used once the attempt has returned
	Deadline time.Time // when the attempt is given up, whatever it is doing
}

// HookResult is what one attempt came to. There is no doubt to keep apart here:
// what was not acknowledged is told again.
type HookResult struct {
	Delivered bool  // acknowledged in time, with a 2xx
	Status    int   // of the answer; 0 without one
	Fault     Fault // why there was no answer to go by; FaultNone when there was
	Elapsed   time.Duration
}
