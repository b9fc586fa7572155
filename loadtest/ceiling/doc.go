// Package ceiling has servers that only do the work that every exchange must do. The
// benchmarks compare the exchange with them.
//
// NewIngest accepts leads. It decodes the body into a struct, commits as many bytes as the
// exchange for a lead, through the same group commit, and answers with a body of the same
// length. The difference to the exchange is the cost of checking a lead, finding a buyer
// and remembering the lead. The server is not simpler on purpose: a ceiling without
// decoding, or with another log, would measure the difference between two logs.
//
// NewAuction holds auctions. It decodes a ping, sends it to every buyer at once, decodes the
// bids and answers with the best. By default it has no log. The goal of the exchange takes
// that into account: at twice the CPU time, it also applies the rules and writes the
// record.
package ceiling
