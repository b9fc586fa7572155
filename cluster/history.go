package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"pingpost/wal"
)

// ErrOtherHistory means that this node's log has other entries than the leader's. It comes from another
// cluster, from a backup, or from a node with a damaged memory. The node needs a copy of another node's
// data.
var ErrOtherHistory = errors.New("cluster: this node's log has other entries than the leader's, from damage or from another cluster; copy the data of another node, and check this node's disk and the origin of its data")

// history compares the batches of the Raft log with the node's log. Each batch contains the fingerprint of
// the entry before it. Entries that the log has already are compared byte for byte: Raft delivers them
// again after a restart.
type history struct {
	log    *wal.Replica
	seq    uint64      // of the last entry that was compared or appended
	sum    uint32      // its fingerprint
	reader *wal.Reader // of entries that the log has already; nil if the last batch was new
}

// entryFingerprint returns the CRC-32C of an entry of the log, with its sequence and its time. It is not 0,
// which stands for an entry that the log no longer has.
func entryFingerprint(seq uint64, at int64, data []byte) uint32 {
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], seq)
	binary.LittleEndian.PutUint64(head[8:], uint64(at))
	return max(1, crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, data))
}

// lastFingerprint returns the fingerprint of the last entry in the log; 0 if the log has none.
func (n *Node) lastFingerprint() (uint32, error) {
	last, _ := n.opt.Log.LastEntry()
	return readFingerprint(n.opt.Log, last)
}

// readFingerprint returns 0 for an entry that was deleted. That happens only if the log was begun anew
// after a snapshot, because its newest segments are always kept.
func readFingerprint(log *wal.Replica, seq uint64) (uint32, error) {
	if seq == 0 {
		return 0, nil
	}
	e, err := log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return entryFingerprint(e.Seq, e.At, e.Data), nil
}

// compare compares the entry before a batch, and the first `known` entries of the batch, with the log.
func (h *history) compare(b *batch, known uint64) error {
	if h.seq+1 != b.first {
		h.close()
		sum, err := readFingerprint(h.log, b.first-1)
		if err != nil {
			return err
		}
		h.seq, h.sum = b.first-1, sum
	}
	if b.previous != h.sum && b.previous != 0 && h.sum != 0 {
		return fmt.Errorf("the leader's log entry %d has the checksum %08x, this node's %08x: %w", h.seq, b.previous, h.sum, ErrOtherHistory)
	}
	if known == 0 {
		h.close()
	}
	for _, data := range b.entries[:min(known, uint64(len(b.entries)))] {
		if err := h.compareNext(b.at, data); err != nil {
			return err
		}
	}
	return nil
}

// compareNext compares an entry with the next one of the log.
func (h *history) compareNext(at int64, data []byte) (err error) {
	if h.reader == nil {
		if h.reader, err = h.log.NewReader(h.seq + 1); err != nil {
			return err
		}
	}
	e, err := h.reader.Next()
	if err != nil {
		return fmt.Errorf("cannot read log entry %d, to compare it with the leader's: %w", h.seq+1, err)
	}
	if e.At != at || !bytes.Equal(e.Data, data) {
		return fmt.Errorf("the leader's log entry %d differs from this node's: %w", e.Seq, ErrOtherHistory)
	}
	h.seq, h.sum = e.Seq, entryFingerprint(e.Seq, e.At, e.Data)
	return nil
}

// appended remembers the last entry that was appended to the log.
func (h *history) appended(seq uint64, at int64, data []byte) {
	h.seq, h.sum = seq, entryFingerprint(seq, at, data)
}

func (h *history) close() {
	if h.reader != nil {
		h.reader.Close()
		h.reader = nil
	}
}
