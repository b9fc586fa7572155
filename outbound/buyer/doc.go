// Package buyer sends pings and posts to buyers' endpoints over HTTP.
//
// For each post attempt it reports whether the buyer has the lead, certainly does not have
// it, or may have it (see market.Verdict). Package dial sends the request and reports what
// is certain; this package interprets the answer:
//
//   - VerdictNotSent: no byte of the request was sent.
//   - VerdictUnknown: the request was sent, and no complete answer arrived.
//   - An attempt is one send. The engine makes each repeat as a separate attempt, so it
//     alone compares an answer with earlier attempts.
//
// A ping buys no lead. There the only question is whether a valid bid arrived in time: see
// Client.Ping.
//
// # Credentials
//
// A buyer endpoint is the exchange's identity at one endpoint. Its authorizer provides the
// credential: none, a configured secret, or a token from an OAuth token endpoint. All
// buyer endpoints of one OAuth client share its token (see tokenSource).
package buyer
