// Package witness checks an exchange from outside while faults hit it. It runs suppliers,
// buyers, an operator and a webhook receiver, and an audit that compares their observations
// with the exchange's log.
//
// The exchange is the real program in its own process, and so are the buyers and the receiver.
// Suppliers send leads over HTTP like a careful client. Each lead has one idempotency key. A
// supplier repeats the same key and body after every failure, even if the exchange dies in
// between. This package does not decide when the exchange dies; fuzz/torture does.
// fuzz/powerloss checks its recordings itself and uses only the clients of this package.
//
// A Cluster runs the program as several nodes. Its Harness reads the node that leads.
//
// # Four independent sources
//
// The audit never relies on the exchange's word alone. The suppliers record every answer. The
// buyers record the leads that they received. The webhook receiver records the events: one id,
// one wording and at least one delivery for every outcome in the log. A model (logModel) reads
// the log's dump from the first record; it knows the configuration and shares no state code
// with the exchange. The audit compares these four with each other and with the live exchange's
// admin API.
//
// The order of the reads matters (Evidence): an earlier source may know less than a later one,
// but never more. Rejected: stopping all traffic for an audit. It would be simpler, but it
// would never see an exchange that has just restarted under load.
//
// Tests prove that the audit works: each finding is provoked by a forged dump, a forged answer
// or a forged buyer.
package witness
