// Package certificate keeps the certificate that an address shows in step with its
// two files.
//
// Whoever renews certificates writes two files, one after the other, or swaps a link,
// and at any instant what lies there may be half of a pair, the half of another, or
// cut off. So the files are looked at every few seconds, and by their contents: times
// of files are too coarse, and a copy may keep them. What makes a pair that is good
// now is shown from the next handshake on; else the one before stays, and that is
// told, once for each thing that is wrong. No handshake waits for a file.
//
// A pair that has run out is still shown where there is no better one: a server that
// would not start for it would keep leads and their deliveries down as well, and its
// clients refuse it anyhow. It is told at every start, and every day from two weeks
// before its end.
//
// Rejected: to be told of changes by the system (not over every kind of mount, and not
// of the folder behind a link), and to look at each handshake, where strangers decide
// how often the disk is read.
package certificate
