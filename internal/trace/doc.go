// Package trace exports traced requests as OpenTelemetry spans to a collector, by OTLP over
// HTTP.
//
// Invariants:
//
//   - A request never waits here. It hands over its record, and one goroutine builds, encodes
//     and sends the spans.
//   - Memory has a limit, even if the collector is slow or down: a trace that would exceed
//     maxQueuedSpans is dropped and counted, and so is a batch that the collector does not accept.
//   - A span has ids, names from the configuration, words of this program, numbers and times.
//     It has no text from a supplier, a buyer or a lead.
//   - A request without an authenticated caller is not traced.
//
// Rejected: OpenTelemetry's SDK. It made the program 4.6 MB larger and added fifteen modules,
// including gRPC and a gateway. Its spans begin and end while the request runs, and its limit
// for a batch counts spans of any size. This package needs only one message, whose form is
// frozen.
package trace
