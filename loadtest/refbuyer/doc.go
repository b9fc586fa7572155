// Package refbuyer is the reference buyer: an endpoint that implements the ping, bid and
// post contract as a buyer should, with faults only as configured. Load tests sell to it,
// developers try an exchange with it, and tests read its account afterwards.
//
// It is an independent account. An exchange reports what it sold; /leads and /stats report
// what the buyer received. A lead that arrives under two keys counts as double_sold and is
// answered normally; the reader of the statistics must react. A ping with contact data
// counts as contact_seen.
//
// Random behaviour (bids, rejections, failures, delays, malformed answers) is a hash of
// the seed, the idempotency key and the attempt number, never a shared random source. The
// same requests get the same results in any order and at any concurrency.
//
// # Memory
//
// For a ping, the buyer stores a hash of its key and body and the end of its bid, so that
// a repeated key gets the same bytes. It stores no bids: a token contains the amount, the
// auction and the validity, with a signature that depends on the seed. Any number of open
// bids therefore costs no memory. For a post, it stores a ledger entry. All storage is in
// rings of fixed size.
//
// # Failures
//
// Half of the failed posts are accepted first and then answered with 500. The caller
// cannot tell them from the other half. A retry with the same key gets the 201 of the
// first attempt. A caller that moves on to another buyer sells the lead twice. A post with
// a malformed answer was always accepted.
package refbuyer
