// Package crash kills an exchange under load, again and again, and audits what
// is left of it.
//
// The exchange is the real program in a process of its own, and so are the
// buyers that it posts to. Suppliers send leads over HTTP as a careful client
// does: one idempotency key a lead, the same key and body again after anything
// that is no answer, however often the exchange dies in between. The killer
// picks its instants by chance: between two acknowledgements, while the log is
// replayed, while a configuration is reloaded, while the exchange stops or its
// snapshot is written, after a pause of the whole process.
//
// It dies twenty times where prices are fixed, with the race detector in it where
// the test has that, and twenty times where every price is a bid, without. There
// leads come by ingest, and by sellers that ping and then post; at times two leads
// are posted at one bid. A seller's answers count as a supplier's do: a bid that
// was told is in the log and told again to the byte, and a lead that was sold at
// it went to the buyer that made it, at that price, alone.
//
// All the while the supplier is told of its leads by webhooks, at an endpoint that
// fails at random, and that takes half of what it then fails. Buyers that leads are
// recorded for report what became of them, each report as a client that does not
// give up: what was acknowledged is in the log, once, and the supplier hears of it.
//
// The suppliers, the buyers, the bookkeeper and the auditor who holds them against
// each other after every restart are package witness's.
//
// # Doubt
//
// TestALeadStaysWhereItMayBe leaves little to chance. It puts a lead in doubt at its
// first buyer in every combination of a failed send, an answer to the repeat, a
// connection and a way in, and kills the exchange between the sends in a quarter of
// them. No lead may reach a second buyer.
//
// # Chance
//
// SEED=n repeats the choices of a run: the leads, the manner of each death and
// its place among the acknowledgements. What the machine does between two
// choices it cannot repeat.
package crash
