// Command conformance runs the same cases against every SDK. It starts the real exchange with a
// live tenant and a sandbox, and talks to the SDK through a driver: a small program in the
// SDK's language. The driver reads and writes one JSON object per line (see PROTOCOL.md).
//
//	go run ./sdk/conformance --sdk go
//	go run ./sdk/conformance --sdk all --only retries
//
// All requests of an SDK pass a proxy that records the exact bytes. A case can make the proxy
// answer instead of the exchange, cut the connection before or after the request was done,
// delay, or change an answer. The exchange's requests to the SDK's buyers pass a gate, which
// does the same. A case thus sees both the SDK's result and its actual requests.
//
// Cases are data, one file per theme in cases/. Neither the cases nor this program depend on
// the SDK's language.
//
// Cases do not measure time. An SDK waits through an injected sleep function, and the cases
// check the requested durations. Where real time must pass, a case checks only results that
// hold however late the answer is.
//
// An error must contain no secret and no personal data of the lead. The suite checks this for
// every answer of every case.
package main
