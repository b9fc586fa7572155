package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

func someHookRow(t *rapid.T) webhookRow {
	return webhookRow{
		Lead: rapid.Make[market.LeadID]().Draw(t, "lead"), Type: market.WebhookType(rapid.Byte().Draw(t, "type")), Dead: rapid.Bool().Draw(t, "dead"),
		Cause: rapid.Uint64().Draw(t, "cause"), Created: rapid.Int64().Draw(t, "created"), Due: rapid.Int64().Draw(t, "due"),
		Attempts: rapid.Uint32().Draw(t, "attempts"),
	}
}

// A hook comes back from a snapshot as it was, and takes there at least as many
// bytes as a damaged count is measured by.
func TestHooksAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := someHookRow(t)
		var body sectionCodec
		row.snapshotFields(&body)
		var back webhookRow
		from := sectionCodec{decoding: true, buf: body.buf}
		back.snapshotFields(&from)
		if from.err != nil || len(from.buf) > 0 || back != row || len(body.buf) < minWebhookBytes {
			t.Fatalf("%v: %+v of %d bytes, want %+v", from.err, back, len(body.buf), row)
		}
	})
}

// Every fact of a hook counts in its digest, and nothing of where it lies.
func TestAHooksDigestCountsEveryField(t *testing.T) {
	var none webhookRow
	for what, row := range map[string]webhookRow{
		"lead": {Lead: market.LeadID{15: 1}}, "type": {Type: 1}, "dead": {Dead: true}, "cause": {Cause: 1},
		"created": {Created: 1}, "due": {Due: 1}, "attempts": {Attempts: 1},
	} {
		if row.digest(1) == none.digest(1) {
			t.Errorf("the digest does not see the %s", what)
		}
	}
	if none.digest(1) == none.digest(2) {
		t.Error("the digest does not see whose it is")
	}
	if placed := (webhookRow{next: 1, queuePosition: 1}); placed.digest(1) != none.digest(1) {
		t.Error("the digest sees where a row lies")
	}
}

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
