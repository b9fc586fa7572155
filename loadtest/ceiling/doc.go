// Package ceiling has servers that do nothing but what no exchange can leave
// out. What an exchange needs beyond them is its own.
//
// Server takes leads: it decodes the body into a struct, commits as many bytes
// as the exchange commits for a lead, through the same group commit, and answers
// with a body as long as the exchange's. What the exchange needs beyond that is
// what it costs to check a lead, to find it a buyer and to remember it. It is no
// simpler than that on purpose. A ceiling without the decoding, or with a log of
// its own, would measure the difference between two logs.
//
// Auction holds auctions: it decodes a ping, sends it to every buyer at once,
// decodes their bids and answers with the best. It has no log, and the goal for
// the exchange is set with that in mind: twice its processor time must pay for
// the rules, the verdicts and the record on the disk.
package ceiling
