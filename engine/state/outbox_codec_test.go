package state

import (
	"testing"

	"pingpost/engine/market"
)

// sectionOf is the section of shard 1 with one outbox of supplier 1.
func sectionOf(head outboxSnapshotHeader, rows ...webhookRow) []byte {
	var body snapshotSectionCodec
	body.encodeOrDecodeCount(1)
	head.encodeOrDecodeSnapshot(&body)
	for i := range rows {
		rows[i].encodeOrDecodeSnapshot(&body)
	}
	return body.buf
}

func TestOutboxesThatAreDamagedAreRefused(t *testing.T) {
	hook := webhookRow{Lead: market.LeadID{1}, Type: 1}
	other := webhookRow{Lead: market.LeadID{1}, Type: 2}
	good := sectionOf(outboxSnapshotHeader{supplier: 1, rows: 2}, hook, other)
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
	if err := load(sectionOf(outboxSnapshotHeader{supplier: 1 + shardCount, rows: 1}, hook)); err != nil {
		t.Errorf("another supplier of the same shard: %v", err)
	}
	for what, section := range map[string][]byte{
		"cut":                    good[:len(good)-1],
		"another shard's":        sectionOf(outboxSnapshotHeader{supplier: 2, rows: 1}, hook),
		"a hook twice":           sectionOf(outboxSnapshotHeader{supplier: 1, rows: 2}, hook, hook),
		"more rows than bytes":   sectionOf(outboxSnapshotHeader{supplier: 1, rows: 60}, hook, other),
		"a count of the moon":    sectionOf(outboxSnapshotHeader{supplier: 1, rows: 1 << 60}),
		"one outbox of two":      append([]byte{2}, good[1:]...),
		"an empty one, twice":    append(append([]byte{2}, sectionOf(outboxSnapshotHeader{supplier: 1})[1:]...), sectionOf(outboxSnapshotHeader{supplier: 1})[1:]...),
		"the same outbox, twice": append(append([]byte{2}, good[1:]...), good[1:]...),
	} {
		if load(section) == nil {
			t.Errorf("%s is loaded", what)
		}
	}
}
