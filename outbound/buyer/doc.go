// Package buyer sends pings and posts to buyers' endpoints over HTTP.
//
// For each post attempt it reports whether the buyer has the lead, certainly does not have
// it, or may have it (see market.PostAttemptVerdict). Package dial sends the request and reports how
// far it got; this package interprets the answer. For example:
//
//   - VerdictNotSent: no byte of the request was sent.
//   - VerdictUnknown: the request was sent, and the answer is missing, incomplete or does not
//     say whether the buyer accepts the lead.
//
// An attempt is one send. The engine makes each repeat as a separate attempt, so it alone
// compares an answer with earlier attempts.
//
// A ping buys no lead. There the only question is whether a valid bid arrived in time: see
// Client.Ping.
//
// # Credentials
//
// Each endpoint of a buyer has a credentialSource, which provides the credential: none, a
// configured secret, or a token from an OAuth token endpoint. All endpoints with the same OAuth
// client share its token (see tokenSource).
package buyer
