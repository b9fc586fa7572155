// Package witness has those who are there when an exchange is put under stress:
// suppliers, buyers, an operator, an endpoint for webhooks, and an auditor that
// holds what they know against the exchange's log.
//
// The exchange is the real program in a process of its own, and so are the buyers
// and the receiver. Suppliers send leads over HTTP as a careful client does: one
// idempotency key a lead, the same key and body again after anything that is no
// answer, however often the exchange dies in between. Who ends its lives, and how,
// is not decided here: fuzz/crash and fuzz/torture do that. fuzz/powerloss has witnesses of
// its own, who read what was recorded, and takes the callers from here.
//
// # Four witnesses
//
// Nothing is believed because the exchange says so. The suppliers keep a ledger
// of every answer they were given. The buyers keep what they took, and the
// supplier's endpoint what it was told: of every lead in the log what became of
// it, at least once, under one id and in one wording. The log's
// dump is walked from its first entry by a bookkeeper that knows the
// configuration and none of the exchange's code for state. The auditor holds them
// against each other and against what the live exchange says of itself.
//
// The order in which they are asked matters (Picture): an earlier one may know less
// than a later one, and never more. Rejected: to stop the world for an audit. It would
// be simpler, and would never see an exchange that has just come back under load.
//
// The auditor is tested too: each of its findings is provoked by a forged
// dump, a forged ledger or a forged buyer.
package witness
