// Package cluster replicates the log of an exchange over three or more nodes, so that the exchange
// survives the loss of a node. It uses hashicorp/raft for the consensus; DESIGN.md has the reasons.
//
// One node is the leader. Its Log collects entries in a queue and proposes them in batches. When a
// majority of the nodes has a batch on disk, every node appends it to its own write-ahead log (package
// wal) and applies it to its state, with the same numbers and times.
//
// # A Raft entry
//
// Integers are little-endian. A node checks the CRC before it stores, sends and applies the entry, because
// raft-wal does not check the entries that it reads.
//
//	 0      1          5                               …
//	+------+----------+--------------------------------+
//	| kind | CRC-32C  | body                           |
//	+------+----------+--------------------------------+
//
//	crc    of the kind and the body
//
//	body of kind 1, a batch of log entries:
//	 0            8      16       24      32     40         44
//	+------------+------+--------+-------+------+----------+---------------------------+
//	| leadership | term | number | first | time | previous | uvarint length, data … …  |
//	+------------+------+--------+-------+------+----------+---------------------------+
//
//	leadership  a random number that identifies the leadership that proposed the batch
//	term        Raft's term in which it began
//	number      of the batch in its leadership, from 1
//	first       sequence of the batch's first entry in the log
//	time        of the batch in Unix nanoseconds, by the leader's clock; never less than before
//	previous    CRC-32C of the entry before first, with its sequence and time; 0 if there is none
//
// # Guarantees
//
//  1. A waiter's Committed is called after a majority of the nodes has fsynced the entry.
//  2. All nodes apply the same batches in the same order, each exactly once, also over restarts. A batch
//     counts only if it directly follows the batch before it in its leadership (see order.go). By its
//     first sequence a node recognizes a batch that its log has already, and missing ones. It compares
//     known entries with its log, and the entry before each batch (see history.go).
//  3. A waiter without a result when its node loses the leadership gets ErrUnknown. Such an entry may
//     become durable later.
//  4. After any error of the disk or the order, a node applies no further entry.
package cluster
