// Package sim runs years of an exchange in minutes and compares each step with a model.
//
// The engine is the real one; its environment is simulated. The clock jumps (a bubble of
// testing/synctest). The log dies before or after any event. Snapshots happen at any time, and
// restarts use snapshot and log, or the log alone. Buyers accept, refuse, fail, hang, are busy
// or unreachable, or bid by a rule. Suppliers may fail to receive webhooks. A seed generates a
// market and its history: leads, repeats, auctions and sales at their bids, status reports,
// returns, top-ups, pauses, erasures, configuration changes, clock changes and ends of windows.
//
// The model implements the contract in plain maps, step by step, without code of the engine.
// After each step, the answer, the money, the open deliveries and the sent webhooks must be
// equal. At each restart, and sometimes between, all leads, free caps and statements must be
// equal, and so must the state from the log alone, from the snapshot, and live. Every lookup of
// every lead must match the model. An erased person must not be recoverable or sent again, even
// with lead keys from an older copy; all other persons must be recoverable.
//
// A history is text with one line per step. A failing history is reduced until no step can be
// removed, and printed. As a file in testdata it runs with every test.
//
// A second mode sends concurrent requests while the log is slow. The model then searches for a
// sequential order that explains all answers.
//
// Rejected: our own scheduler, because the bubble knows when every goroutine waits, and the
// engine needs no special build for it. Rejected: ignoring results that the model cannot
// predict. Where the contract leaves a choice (the start of turns, jitter, whether a failing
// buyer is spared), the model accepts an allowed choice, and expects the exchange to keep it.
//
// The simulation is tested too: it must detect mutants of the engine, such as a window that
// begins 24 hours after the last one.
package sim
