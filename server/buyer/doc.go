// Package buyer speaks HTTP to buyers' endpoints.
//
// What it owes its caller is one honest word about each attempt: whether the
// buyer has the lead, certainly has not, or may have (see market.Verdict). The
// whole package is arranged around the line between "certainly" and "may":
//
//   - Everything up to a usable connection (name, address, TCP, TLS) happens
//     while dialing, before a byte of the request exists on a wire. A failure
//     there is VerdictUnreached, whatever its error says of itself.
//   - The wire counts the bytes it was given (see wire). A failure after the
//     first one is VerdictUnknown, also where it came too soon to be likely.
//   - Once one sending of an attempt may have arrived, no later failure of the
//     same attempt takes that back (see settle).
//
// A ping buys nothing, so there the question is only whether a bid came in time
// and can be believed: see Client.Ping. It travels by the same means.
//
// # Why HostClient is used as a pool, and not through DoDeadline
//
// fasthttp.HostClient.Do answers ErrTimeout for "waited for a connection",
// "wrote half of it" and "read nothing" alike, resends by method and not by
// whether a connection had gone stale, and completes TLS lazily inside the
// first write, where a certificate nobody trusts looks like a broken request.
// So exchange takes a connection out of HostClient, does one write and one read
// on it under one absolute deadline, and puts it back or closes it. All of it
// runs in the caller's goroutine: an endpoint that hangs holds its connection
// and its caller until the deadline, and nothing else.
//
// # Where a buyer may live
//
// An address is judged after the name was resolved, in the moment of
// connecting to it, so that no second look-up can give another answer. Only
// public unicast addresses pass, and those in the trusted networks; plain http
// passes only inside the trusted networks. Redirects are not followed and
// proxies of the environment are not used, so there is no way around it. All of
// it holds for token endpoints as well.
//
// # Who the exchange is there
//
// An account is the exchange at one endpoint. Its authorizer proves who it is:
// by nothing, by a secret that is sent as it is, or by a token that an OAuth
// client's secret was changed for, which all accounts of that client share (see
// grant).
package buyer
