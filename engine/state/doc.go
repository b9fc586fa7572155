// Package state is the exchange's memory: the result of all logged events and, separate
// from it, the reservations of requests in flight.
//
// Apply alone changes the result of events. One goroutine calls it, in the order of the
// log and in the same way while serving and in replay. Reservations are overlays beside
// the event counts that they concern. A request makes them; they end when their event is
// applied or the request gives up. No snapshot and no hash contains them. Their sum is
// zero when the exchange is idle.
//
// Rows that grow with the number of leads and auctions (leads, auctions, idempotency keys,
// duplicate values) are in pointer-free chunked lists, in shards chosen by the key's bytes. So the
// garbage collector does not walk them, and a shard can be copied at once. The effect of
// Apply on a shard depends on that shard and the event alone. A snapshot may therefore
// copy its shards at different positions of the log, each with its stamp. An outbox, the
// pending webhooks of one supplier, is a shard in this sense too.
package state
