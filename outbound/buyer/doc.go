// Package buyer speaks HTTP to buyers' endpoints.
//
// What it owes its caller is one honest word about each attempt: whether the
// buyer has the lead, certainly has not, or may have (see market.Verdict). What
// is certain of a request comes from package dial, which sends it; here it is
// held against what an answer means:
//
//   - A request of which not a byte was sent is VerdictNotSent.
//   - One that was sent and not answered is VerdictUnknown.
//   - An attempt is one send. The engine makes every repeat as an attempt of its
//     own, so it alone weighs an answer against earlier sends.
//
// A ping buys nothing, so there the question is only whether a bid came in time
// and can be believed: see Client.Ping. It travels by the same means.
//
// # Who the exchange is there
//
// An account is the exchange at one endpoint. Its authorizer proves who it is:
// by nothing, by a secret that is sent as it is, or by a token that an OAuth
// client's secret was changed for, which all accounts of that client share (see
// grant).
package buyer
