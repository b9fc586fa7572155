// Package ledger derives money movements, balances and account statements from log
// events. It is pure: it holds no state between calls except in a Tally, and it
// performs no I/O.
//
// The events in the log are the only record of money. Movements is the one function
// that translates an event into money; the report and the statements both use it, so
// they cannot disagree.
package ledger
