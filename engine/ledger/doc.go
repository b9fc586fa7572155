// Package ledger derives money movements, balances and account statements from log events. It
// performs no I/O, and it keeps values between calls only in a StatementBuilder or a
// StatementEntryBuilder.
//
// The events in the log are the only record of money. Party.AppendEntriesOfEvent is the one function
// that translates an event into money. The report and the statements both use it, so they cannot
// disagree.
package ledger
