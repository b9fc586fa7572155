// Package wal keeps opaque entries in order and durable: a write-ahead log with
// group commit, readers that follow it, snapshots beside it, and an archive
// behind it. It knows nothing of what the entries mean.
//
// It stands on tidwall/wal, which appends and rotates, and never calls it bare:
// DESIGN.md lists what that library does alone under each fault, and which part
// of this package answers.
//
// # On disk
//
//	<dir>/LOCK                     flock of the process that writes
//	<dir>/EPOCH                    the log's life, in decimal; absent means 1
//	<dir>/log/<20 digits>          live segments, named by their first sequence
//	<dir>/archive/<20 digits>.seg  segments that the snapshots no longer need
//	<dir>/snapshot/<20 digits>.snap  snapshots, named by their newest stamp
//	<dir>/damage/…                 what a repair cut off, kept for inspection
//
// # A record
//
// A segment is a run of records without gaps. A record is one entry: tidwall's
// length, then our frame. Integers are little-endian.
//
//	 byte 0        1..3
//	+-------------+----------------------------------------------------------+
//	| uvarint     | frame (that many bytes)                                  |
//	+-------------+----------------------------------------------------------+
//
//	frame:
//	 0       3   4        8               16              24              32      36      40
//	+-------+---+--------+---------------+---------------+---------------+-------+-------+---------+
//	| magic |ver| length |   sequence    |     batch     |     time      | epoch |  crc  | data …  |
//	+-------+---+--------+---------------+---------------+---------------+-------+-------+---------+
//
//	magic     FF 57 4C; no UTF-8 text contains it
//	ver       1; another version refuses to open
//	length    bytes of data, 1 to MaxEntry; the uvarint must equal 40 + length
//	sequence  of this entry, from 1, without gaps
//	batch     sequence of the first entry that was made durable by the same fsync
//	time      unix nanoseconds, one for the batch, never less than the batch before
//	epoch     life of the log; raised where sequences may have been given twice
//	crc       CRC-32C of bytes 0 to 35 and of data
//
// A batch never spans two segments, so the first frame of a segment has a
// sequence equal to its batch and to the name of the file.
//
// # What holds
//
//  1. A Waiter hears Committed only after an fsync that covers its entry and the
//     directory entries that lead to it.
//  2. What was Committed is there after any crash, or Open refuses and says where
//     it is damaged. Only bytes behind which no later batch begins are cut.
//  3. After one failed write, rotation or fsync nothing is ever Committed again.
//  4. No reader blocks the committer, and none holds disk space.
package wal
