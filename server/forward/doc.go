// Package forward sends the requests of clients to the leader of a cluster, and serves the requests that
// other nodes send here. Each node accepts requests; only the leader decides about them.
//
// Invariant: a request is sent to a second leader only if that one cannot decide differently. Either the first
// leader has certainly not decided: no byte of the request left this node, its head was not sent completely, or
// the answer says so. Or the answer says that the log has an event of the request under its Idempotency-Key: the
// next leader then finds it. Both answers have a mark (httperror.MaySendAgain). After any other error the client
// gets a 503, and learns the result when it repeats the request under its Idempotency-Key.
//
// The package has its own small HTTP client. The library's client writes the head anew, with changed
// paths and header names, and it does not report how many bytes of a request were sent.
package forward
