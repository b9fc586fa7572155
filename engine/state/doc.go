// Package state is the exchange's memory: what the log has said so far, and
// beside it, never mixed with it, what requests in flight have reserved.
//
// Facts change by Apply alone, called by one goroutine in the order of the log,
// in the same way while serving and in replay. Reservations live in overlays
// beside the facts they concern; they are taken by requests, end when the fact
// they were taken for is applied or given up, and are not in any snapshot or
// hash. Their sum is zero when the exchange is idle.
//
// Rows that grow with the number of leads and auctions (those, idempotency keys,
// duplicate values) are kept in pointer-free slabs in shards chosen by the key's
// bytes, so the collector does not walk them and a shard can be copied at once.
// What Apply does to a shard depends on that shard and the event alone; so a
// snapshot may take its shards at different positions of the log, each with its
// stamp. An outbox, what one supplier is still to be told, is a shard in this sense
// too: what facts do to it depends on it and the event alone.
package state
