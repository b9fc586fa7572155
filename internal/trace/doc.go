// Package trace draws what a traced request has gone through as OpenTelemetry's spans
// and exports them to a collector, by OTLP over HTTP.
//
// What must always hold:
//
//   - A request waits for nobody here. It hands over what it has noted and goes; spans
//     are put together, encoded and sent by one goroutine.
//   - Memory is bounded, whatever the collector does: what is over maxWaiting is dropped and
//     counted. So is what the collector did not take, after maxTries.
//   - A span has ids, names that operators have given, words of this program, numbers and
//     times; nothing that a supplier, a buyer or a lead has written.
//   - Of strangers nothing is traced: a request without a known caller is forgotten.
//
// Rejected: OpenTelemetry's SDK. It made the program 4.6 MB larger and brought fifteen modules,
// with gRPC and a gateway among them; its spans are begun and ended on the request's way, and its
// batches are bounded in spans of any size. What is needed of it is one message, and its form
// is frozen.
package trace
