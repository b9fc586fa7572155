// Package certificate reloads the TLS certificate of an address when its two files change.
//
// A renewal writes two files one after the other, or swaps a link, so at any time the files
// may be half of a pair, belong to different pairs, or be incomplete. So the package
// compares the contents of the files every few seconds: modification times are too coarse,
// and a copy may preserve them. A valid pair is served from the next handshake on.
// Otherwise the previous pair stays, and the package reports each error once. A handshake
// never waits for a file.
//
// An expired pair is still served if there is no better one. A server that refused to start
// would also stop leads and deliveries, and clients reject the certificate anyway. From two
// weeks before the expiry, the package logs a line at every start and once a day.
//
// Rejected: file notifications of the system, which do not cover every kind of mount nor
// the folder behind a link; and reading the files at each handshake, which would let
// clients decide how often the disk is read.
package certificate
