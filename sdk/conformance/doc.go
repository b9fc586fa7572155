// Command conformance holds every SDK to the same cases. It runs the real
// exchange, a live tenant and a sandbox, and speaks to an SDK through a driver: a
// small program in the SDK's language that reads one JSON object a line and
// answers one a line (see PROTOCOL.md).
//
//	go run ./sdk/conformance --sdk go
//	go run ./sdk/conformance --sdk all --only retries
//
// Everything that an SDK sends passes a proxy, which keeps the exact bytes and, where a
// case says so, gets in the way: answers in the exchange's place, cuts the
// connection before or after the request was done, dawdles, changes an answer. What the
// exchange sends to the SDK's buyers passes a gate, which keeps it as well. So a case
// sees both what the SDK says that it did and what it did.
//
// Cases are data, one file a theme in cases/. Nothing in a case or in this program knows
// which language it is that answers.
//
// A case asserts no time: an SDK's waits are those that it asked its injected sleep for,
// and where a real clock has to pass, only what must be so however late it is.
//
// An answer that is an error may hold no secret and nothing of who the lead is. That
// is no case, but is asked of every answer of every case.
package main
