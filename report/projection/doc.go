// Package projection computes the report's rows and sums from the log's events. A ChangeBatch
// applies the events of one transaction; the report writes its rows and sums to the file.
//
// Sums are by quarters of an hour and by the columns of a DimensionColumnSet. RollUpSums adds them up to the
// coarser groupings and to hours and days of UTC. Amounts of money are those of
// ledger.Party.AppendEntriesOfEvent, which is the ledger's own rule.
package projection
