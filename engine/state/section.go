package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// sectionReader reads a snapshot's sections one after the other.
type sectionReader struct {
	r     io.Reader
	kind  byte
	shard int
	stamp uint64
	at    int64
	body  []byte
	one   [1]byte

	version byte // of the snapshot
}

// maxSection bounds a section's body.
const maxSection = 1 << 30

// ReadByte reads one byte, for the variable-length numbers of a section's head.
func (in *sectionReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(in.r, in.one[:])
	return in.one[0], err
}

func (in *sectionReader) header() error {
	var head [5]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		return fmt.Errorf("cannot read a snapshot's header: %w", err)
	}
	if string(head[:4]) != snapshotMagic {
		return errors.New("this is not a snapshot of an exchange's state")
	}
	if in.version = head[4]; in.version < oldestSnapshot || in.version > snapshotVersion {
		return fmt.Errorf("this snapshot is of version %d, this program knows %d to %d; run the program that wrote it", in.version, oldestSnapshot, snapshotVersion)
	}
	count, err := binary.ReadUvarint(in)
	if err != nil || count != shards {
		return fmt.Errorf("this snapshot has %d shards, this program has %d", count, shards)
	}
	return nil
}

func (in *sectionReader) next() error {
	kind, err := in.ReadByte()
	if err != nil {
		return fmt.Errorf("a snapshot ends before its last section: %w", err)
	}
	shard, err1 := binary.ReadUvarint(in)
	stamp, err2 := binary.ReadUvarint(in)
	at, err3 := binary.ReadVarint(in)
	var length [4]byte
	_, err4 := io.ReadFull(in.r, length[:])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fmt.Errorf("cannot read a snapshot's section: %w", err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if shard >= shards || size > maxSection {
		return fmt.Errorf("a snapshot's section is out of bounds (shard %d, %d bytes)", shard, size)
	}
	in.kind, in.shard, in.stamp, in.at = kind, int(shard), stamp, at
	return in.fill(int(size))
}

// fill reads a section's body step by step, so that a length that is damaged
// costs no more memory than there are bytes.
func (in *sectionReader) fill(size int) error {
	const step = 1 << 20
	in.body = in.body[:0]
	for len(in.body) < size {
		have := len(in.body)
		in.body = append(in.body, make([]byte, min(step, size-have))...)
		if _, err := io.ReadFull(in.r, in.body[have:]); err != nil {
			return fmt.Errorf("a snapshot's section is cut short: %w", err)
		}
	}
	return nil
}
