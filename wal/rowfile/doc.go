// Package rowfile stores rows of fixed size in immutable files, sorted by key. A row is found with one read
// of the disk, and a filter in memory saves nearly all reads for rows that a file does not have.
//
// A row begins with its key of 16 bytes, of which the last eight are evenly spread (random, or a hash). A file has
// a part for each kind of row in each shard of the keys. All parts of shard 0 come first, in the order of the kinds.
//
//	header   "PPROWS" | version u8 | 0 | file id, 8 random bytes
//	parts    blocks of at most 4096 bytes (whole rows, then a CRC-32C), and behind the last one a binary fuse
//	         filter with 16 bits for each key, with a CRC-32C; a part without rows is empty
//	index    shape, meta of the caller, then for each part: number of rows, size of the filter, and four
//	         bytes of the first key of each block
//	trailer  "PPROWS" | version u8 | 0 | file id | offset and length of the index, u64 | CRC-32C of the index
//	         | CRC-32C of the trailer
//
// Integers are little-endian. A block's checksum includes the file's id and the block's offset, so a block of
// another file or place does not pass for this one. Open verifies trailer, index and filters, and each read
// verifies its block. So damaged, truncated and foreign files are errors and never a wrong row.
//
// A writer keeps one part in memory, and a merge one part of each file. The filter is built for each part alone,
// so building it takes little memory however large the file is. (Rejected: an LSM store. It would bring a log,
// a cache and background work of its own, for rows that are written once in large batches and never changed.)
package rowfile
