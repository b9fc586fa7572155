// Package datacopy copies the data of a running node to a new node of its cluster. The copy is a tar
// archive that is sent over a connection of package link.
//
// The sender sends the newest snapshot, and the log up to its present end. Then it sends the files that
// log entries refer to: keys of leads, configurations, suppression lists. A file is written before the
// entry that refers to it, so the copy has the files of all its entries. The new node gets later entries
// from the leader.
//
// The archive has no report, which each node builds from its log, no exchange key, which the operator gives
// to each node, and no Raft log.
package datacopy
