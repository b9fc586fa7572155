// Package webhook sends webhooks to suppliers: it drains the outbox.
//
// The outbox is part of the logged state, and the engine logs the result of each attempt.
// This package works between the two and holds no data that a crash could lose. A Sender
// decides which endpoint is next, and a Client makes one attempt and returns its result.
// A webhook whose attempt was not logged is sent again, with the same id.
//
// Package dial applies the same rules to webhook endpoints as to buyers: allowed
// addresses, no redirects, one deadline for the whole attempt.
package webhook
