package state

import (
	"testing"

	"pingpost/engine/market"
)

// sectionOf is the section of shard 1 with one outbox of supplier 1.
func sectionOf(head outboxHead, rows ...webhookRow) []byte {
	var body sectionCodec
	body.countField(1)
	head.snapshotFields(&body)
	for i := range rows {
		rows[i].snapshotFields(&body)
	}
	return body.buf
}

func TestOutboxesThatAreDamagedAreRefused(t *testing.T) {
	hook := webhookRow{Lead: market.LeadID{1}, Type: 1}
	other := webhookRow{Lead: market.LeadID{1}, Type: 2}
	good := sectionOf(outboxHead{supplier: 1, rows: 2}, hook, other)
	load := func(section []byte) error {
		var o webhookOutboxes
		body := sectionCodec{decoding: true, buf: section}
		o.maxDead = maxDeadLetters
		o.loadShard(1, &body)
		return body.err
	}
	if err := load(good); err != nil {
		t.Fatal(err)
	}
	if err := load(sectionOf(outboxHead{supplier: 1 + shardCount, rows: 1}, hook)); err != nil {
		t.Errorf("another supplier of the same shard: %v", err)
	}
	for what, section := range map[string][]byte{
		"cut":                    good[:len(good)-1],
		"another shard's":        sectionOf(outboxHead{supplier: 2, rows: 1}, hook),
		"a hook twice":           sectionOf(outboxHead{supplier: 1, rows: 2}, hook, hook),
		"more rows than bytes":   sectionOf(outboxHead{supplier: 1, rows: 60}, hook, other),
		"a count of the moon":    sectionOf(outboxHead{supplier: 1, rows: 1 << 60}),
		"one outbox of two":      append([]byte{2}, good[1:]...),
		"an empty one, twice":    append(append([]byte{2}, sectionOf(outboxHead{supplier: 1})[1:]...), sectionOf(outboxHead{supplier: 1})[1:]...),
		"the same outbox, twice": append(append([]byte{2}, good[1:]...), good[1:]...),
	} {
		if load(section) == nil {
			t.Errorf("%s is loaded", what)
		}
	}
}
