// Package crash kills an exchange repeatedly under load and audits the result.
//
// The exchange is the real program in its own process, and so are the buyers. Suppliers send
// leads over HTTP like a careful client. Each lead has one idempotency key, and a supplier
// repeats the same key and body after every failure, even if the exchange dies in between. The
// kills happen at random instants: between two acknowledgements, during the replay of the log,
// during a reload, during a stop or the writing of its snapshot, and after a pause of the
// process.
//
// One test kills the exchange twenty times with fixed prices, with the race detector if the
// test itself has it. The other kills it twenty times with auctions only, without the race
// detector. There leads arrive by ingest, and by ping and post; some bids receive two posts at
// once. An answered bid must be in the log and be repeated byte by byte. A lead that is sold at
// it must go only to the bidding buyer, at that price.
//
// The supplier's webhook receiver fails at random, and accepts half of the events that it
// fails. Buyers without an endpoint send status reports and repeat each until it is answered.
// An acknowledged report must be in the log once, and the supplier must receive its event.
//
// Package witness provides the suppliers, the buyers, and the audit after each restart.
//
// # Uncertain deliveries
//
// TestUncertainLeadStaysWithBuyer uses little randomness. It makes the first buyer's receipt of
// a lead uncertain, in every combination of a failed send, an answer to the repeat, a kind of
// connection and a kind of request. In a quarter of them it kills the exchange between the
// sends. No lead may reach a second buyer.
//
// # Randomness
//
// SEED=n repeats the choices of a run: the leads, the manner of each kill, and its place among
// the acknowledgements. It cannot repeat the machine's timing.
package crash
