// Package wal is a write-ahead log: it stores opaque entries in order and durably. It has
// group commit, readers of the growing log, snapshots, and an archive of old segments. It
// does not interpret entries.
//
// It uses tidwall/wal, which appends and rotates, behind a narrow interface. DESIGN.md
// lists how that library alone reacts to each fault, and the part of this package that
// handles the fault.
//
// # On disk
//
//	<dir>/LOCK                     flock of the process that writes
//	<dir>/EPOCH                    the log's epoch, in decimal; absent means 1
//	<dir>/log/<20 digits>          live segments, named by their first sequence
//	<dir>/archive/<20 digits>.seg  segments that the snapshots no longer need
//	<dir>/snapshot/<20 digits>.snap  snapshots, named by the newest entry in them
//	<dir>/damage/…                 copies of bytes that a repair cut off, and invalid snapshots
//
// # A record
//
// A segment is a sequence of records without gaps. A record is one entry: tidwall's
// length, then the frame of this package. Integers are little-endian.
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
//	ver       1; Open rejects another version
//	length    bytes of data, 1 to MaxEntry; the uvarint must equal 40 + length
//	sequence  number of this entry, from 1, without gaps
//	batch     sequence of the first entry that the same fsync made durable
//	time      unix nanoseconds, one value for the batch, never less than the batch before
//	epoch     raised when sequences may have been assigned twice
//	crc       CRC-32C of bytes 0 to 35 and of data
//
// A batch never spans two segments, so in the first frame of a segment the sequence, the
// batch and the name of the file are equal.
//
// # Guarantees
//
//  1. The log calls Waiter.Committed only after an fsync of the entry and of the directory
//     entries that lead to it.
//  2. A committed entry survives any crash, or Open returns an error that gives the place
//     of the damage. Open cuts only bytes that no later batch follows.
//  3. After one failed write, rotation or fsync, the log commits no further entry.
//  4. No reader blocks the committer or prevents the deletion of a segment.
package wal
