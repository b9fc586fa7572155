package state

import (
	"testing"

	"pingpost/engine/market"
)

// encodeOutboxSection returns the section of shard 1 with one outbox of supplier 1.
func encodeOutboxSection(head supplierOutboxSnapshotHeader, rows ...webhookRow) []byte {
	var body snapshotSectionCodec
	body.encodeOrDecodeCount(1)
	head.encodeOrDecodeSnapshot(&body)
	for i := range rows {
		rows[i].encodeOrDecodeSnapshot(&body)
	}
	return body.buf
}

func TestDamagedOutboxSectionsAreRejected(t *testing.T) {
	webhook := webhookRow{Lead: market.LeadID{1}, Type: 1}
	other := webhookRow{Lead: market.LeadID{1}, Type: 2}
	good := encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1, rows: 2}, webhook, other)
	load := func(section []byte) error {
		var o webhookOutboxes
		body := snapshotSectionCodec{decoding: true, buf: section}
		o.maxDead = maxDeadLetters
		o.loadOutboxShard(1, &body)
		return body.err
	}
	if err := load(good); err != nil {
		t.Fatal(err)
	}
	if err := load(encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1 + shardCount, rows: 1}, webhook)); err != nil {
		t.Errorf("another supplier of the same shard: %v", err)
	}
	for what, section := range map[string][]byte{
		"truncated":              good[:len(good)-1],
		"another shard's":        encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 2, rows: 1}, webhook),
		"a webhook twice":        encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1, rows: 2}, webhook, webhook),
		"more rows than bytes":   encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1, rows: 60}, webhook, other),
		"a huge count":           encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1, rows: 1 << 60}),
		"one outbox of two":      append([]byte{2}, good[1:]...),
		"an empty one, twice":    append(append([]byte{2}, encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1})[1:]...), encodeOutboxSection(supplierOutboxSnapshotHeader{supplier: 1})[1:]...),
		"the same outbox, twice": append(append([]byte{2}, good[1:]...), good[1:]...),
	} {
		if load(section) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}
