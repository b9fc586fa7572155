package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"pingpost/wal/commitqueue"
)

// entryKind says what a Raft entry contains. The numbers are part of the format.
type entryKind byte

const (
	kindBatch     entryKind = 1
	kindFileChunk entryKind = 2
	kindStateHash entryKind = 3
)

const (
	entryHeaderSize = 5
	batchHeaderSize = 44
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errChecksum means that a Raft entry changed after its leader encoded it: on a disk, in memory or in a
// connection.
var errChecksum = errors.New("the checksum of a replicated entry is wrong")

// batch is a batch of log entries in a Raft entry.
type batch struct {
	leadership uint64
	term       uint64
	number     uint64
	first      uint64
	at         int64
	previous   uint32   // fingerprint of the entry before the first; 0: missing
	entries    [][]byte // they share memory with the Raft entry
}

// encodeBatch returns the Raft entry for these log entries.
func encodeBatch(b *batch, entries []commitqueue.Entry) []byte {
	size := entryHeaderSize + batchHeaderSize
	for i := range entries {
		size += binary.MaxVarintLen32 + len(entries[i].Data)
	}
	out := make([]byte, entryHeaderSize, size)
	out[0] = byte(kindBatch)
	out = binary.LittleEndian.AppendUint64(out, b.leadership)
	out = binary.LittleEndian.AppendUint64(out, b.term)
	out = binary.LittleEndian.AppendUint64(out, b.number)
	out = binary.LittleEndian.AppendUint64(out, b.first)
	out = binary.LittleEndian.AppendUint64(out, uint64(b.at))
	out = binary.LittleEndian.AppendUint32(out, b.previous)
	for i := range entries {
		out = binary.AppendUvarint(out, uint64(len(entries[i].Data)))
		out = append(out, entries[i].Data...)
	}
	binary.LittleEndian.PutUint32(out[1:], entryChecksum(out))
	return out
}

func entryChecksum(entry []byte) uint32 {
	return crc32.Update(crc32.Checksum(entry[:1], castagnoli), castagnoli, entry[entryHeaderSize:])
}

// checkEntry verifies the checksum of a Raft entry and returns its kind and its body.
func checkEntry(entry []byte) (entryKind, []byte, error) {
	if len(entry) < entryHeaderSize || binary.LittleEndian.Uint32(entry[1:]) != entryChecksum(entry) {
		return 0, nil, errChecksum
	}
	return entryKind(entry[0]), entry[entryHeaderSize:], nil
}

// decode reads the body of a batch. It reuses the memory of b.entries.
func (b *batch) decode(body []byte) error {
	if len(body) < batchHeaderSize {
		return fmt.Errorf("a replicated batch has only %d bytes", len(body))
	}
	b.leadership = binary.LittleEndian.Uint64(body)
	b.term = binary.LittleEndian.Uint64(body[8:])
	b.number = binary.LittleEndian.Uint64(body[16:])
	b.first = binary.LittleEndian.Uint64(body[24:])
	b.at = int64(binary.LittleEndian.Uint64(body[32:]))
	b.previous = binary.LittleEndian.Uint32(body[40:])
	b.entries = b.entries[:0]
	for rest := body[batchHeaderSize:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size == 0 || size > uint64(len(rest)-n) {
			return fmt.Errorf("entry %d of a replicated batch has an invalid length", len(b.entries)+1)
		}
		b.entries = append(b.entries, rest[n:n+int(size)])
		rest = rest[n+int(size):]
	}
	if len(b.entries) == 0 {
		return errors.New("a replicated batch has no entries")
	}
	return nil
}
