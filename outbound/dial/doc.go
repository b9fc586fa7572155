// Package dial reaches the addresses of others over HTTP: buyers' endpoints,
// token endpoints, suppliers' webhooks. It knows nothing of what is said there.
//
// What it owes its caller is what is certain after a request: whether a byte of
// it may have left, and the status of an answer whose head was read whole (see
// Trip). The whole package is arranged around the line between the two:
//
//   - Everything up to a usable connection (name, address, TCP, TLS) happens
//     while dialing, before a byte of the request exists on a wire. After a
//     failure there nothing was sent, whatever its error says of itself.
//   - The wire counts the bytes it was given (see wire). A failure after the
//     first one leaves open whether the request arrived, also where it came too
//     soon to be likely.
//   - A request that is not repeatable goes out once. After its first byte a
//     failure is the caller's to judge, and a repeat is the caller's decision.
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
// # Whose answer it is
//
// HTTP/1.1 has nothing in an answer that names its request. So a line is looked at
// before it is used again, pings go over lines of their own, each owner has lines of its own, and
// an endpoint that was caught once is trusted with no line for an hour (see host).
//
// # Where an endpoint may live
//
// An address is judged after the name was resolved, in the moment of
// connecting to it, so that no second look-up can give another answer. Only
// public unicast addresses pass, and those in the trusted networks; plain http
// passes only inside the trusted networks. Redirects are not followed and
// proxies of the environment are not used, so there is no way around it.
package dial
