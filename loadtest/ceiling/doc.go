// Package ceiling is a server that does nothing with a lead but what no exchange
// can leave out: it decodes the body into a struct, commits as many bytes as the
// exchange commits for a lead, through the same group commit, and answers with a
// body as long as the exchange's. What the exchange needs beyond that is what it
// costs to check a lead, to find it a buyer and to remember it.
//
// It is no simpler than that on purpose. A ceiling without the decoding, or with
// a log of its own, would measure the difference between two logs.
package ceiling
