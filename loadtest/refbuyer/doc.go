// Package refbuyer is the reference buyer: an endpoint that speaks the ping,
// bid and post contract as a buyer should, and misbehaves only as it was told
// to. Load tests sell to it, developers try an exchange against it, and tests
// ask it afterwards what it really took.
//
// It is the other witness. An exchange says what it sold; /leads and /stats say
// what was bought, from nothing but the requests that came. A lead that came
// under two keys is counted as double_sold, and answered all the same: it is
// for the reader of the count to be alarmed. So is a ping that carries a
// person, counted as contact_seen.
//
// What it does by chance (bidding, rejecting, failing, dawdling, talking
// nonsense) is a hash of the seed, the idempotency key and the number of the
// attempt, never a shared source of randomness: the same requests meet the same
// fate in any order and at any concurrency.
//
// # What it remembers
//
// Of a ping, the hash of its key and of its body, and how long its bid stands,
// so that the key sent again gets the same bytes. Of a bid, nothing: its token
// says what was bid, for which auction and until when, under a hash that only
// this seed can make, so any number of open bids costs no memory. Of a post,
// its entry in the ledger. Everything remembered is in rings of fixed size.
//
// # The failures that matter
//
// Half of the failed posts are taken first, and then answered with a 500. To
// the caller they look like the other half. Its retry of the same key gets the
// 201 that the first attempt was owed; its moving to another buyer would be the
// lead's second sale. A post that is answered with nonsense was always taken.
package refbuyer
