package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// AppendRecord appends an entry's record, byte for byte as it stands in a segment, to
// dst. So a copy of a log carries the log's own checksums.
func AppendRecord(dst []byte, e *Entry) []byte {
	dst = binary.AppendUvarint(dst, uint64(headerSize+len(e.Data)))
	return appendFrame(dst, header{seq: e.Seq, batch: e.Batch, at: e.At, epoch: e.Epoch}, e.Data)
}

// ParseRecord reads the record that b begins with and checks its checksum. The entry's
// data aliases b; n is the size of the record.
func ParseRecord(b []byte) (e Entry, n int, err error) {
	h, data, n, err := parseRecord(b)
	var version unknownVersion
	switch {
	case errors.As(err, &version):
		return e, 0, fmt.Errorf("a later program wrote this: %w", err)
	case err != nil:
		return e, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return Entry{Seq: h.seq, Batch: h.batch, At: h.at, Epoch: h.epoch, Data: data}, n, nil
}
