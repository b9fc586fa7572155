// Package dial sends HTTP requests to the addresses of other parties: buyers' endpoints,
// token endpoints, suppliers' webhooks. It does not interpret their content.
//
// After each request dial reports what is certain (see SendResult): whether a byte of the request
// may have left this machine, and the status of an answer that arrived with its complete head.
// Three rules keep the two apart:
//
//   - Name resolution, TCP and TLS are complete before the first byte of a request is
//     written. A failure up to there means that dial sent no byte, for any error.
//   - socketConn counts the bytes that the network accepted. After the first one, a
//     failure leaves open whether the request arrived, also if the failure came very
//     early.
//   - dial sends a request that is not repeatable once. If it fails after its first byte,
//     the caller decides whether to repeat it.
//
// # Why HostClient is only a pool
//
// dial does not call fasthttp.HostClient.DoDeadline, for three reasons. It returns
// ErrTimeout alike for a wait for a connection, a half-written request and a missing
// answer. It resends depending on the method, not on whether the connection was stale. It
// completes TLS inside the first write, so an untrusted certificate looks like a failed
// request.
//
// So sendOverPooledConn takes a connection out of HostClient, does one write and one read under one
// absolute deadline, and returns or closes the connection. All of it runs in the caller's goroutine. An
// endpoint that hangs blocks its connection and its caller until the deadline, and no other request.
//
// # Which request an answer belongs to
//
// An HTTP/1.1 answer does not name its request. So dial checks a connection for unexpected
// data before it uses it again. Pings have separate connections, and so does each owner.
// An endpoint that sent an extra answer gets a new connection for each request for an hour (see
// hostConns).
//
// # Which addresses are allowed
//
// dial checks the resolved address at the moment of connecting, so that a second lookup
// cannot return another address. It allows public unicast addresses and the trusted
// networks. It allows plain http only inside the trusted networks. It does not follow
// redirects and ignores proxies from the environment, because both would bypass the check.
package dial
