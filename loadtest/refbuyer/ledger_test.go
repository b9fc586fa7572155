package refbuyer

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine/market"
)

const owed = market.Money(12_000_000)

func always(fails, taken bool) func(int) (bool, bool) {
	return func(int) (bool, bool) { return fails, taken }
}

// TestLedger checks the fates of a sequence of posts.
func TestLedger(t *testing.T) {
	sound, lost, mute := always(false, false), always(true, false), always(true, true)
	post := func(key, lead string, body byte, reject bool, fail func(int) (bool, bool)) attempt {
		return attempt{key: key, lead: lead, id: "ref_" + key, body: [32]byte{body}, price: owed, reject: reject, fail: fail}
	}
	late := func(a attempt) attempt {
		a.bid, a.expired = true, true
		return a
	}
	won := func(a attempt, price market.Money) attempt {
		a.bid, a.price = true, price
		return a
	}
	rows := []struct {
		name  string
		posts []attempt
		last  outcome
		stats Stats
	}{
		{"taken", []attempt{post("k1", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k1", number: 1}, Stats{Posts: 1, Accepted: 1, Revenue: owed}},
		{"taken once, told twice", []attempt{post("k1", "l1", 1, false, sound), post("k1", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k1", number: 2, replayed: true}, Stats{Posts: 2, Accepted: 1, Replayed: 1, Revenue: owed}},
		{"refused for good", []attempt{post("k1", "l1", 1, true, sound), post("k1", "l1", 1, false, sound)}, outcome{fate: fateRejected, id: "ref_k1", number: 2, replayed: true}, Stats{Posts: 2, Rejected: 1, Replayed: 1}},
		{"failed, then taken", []attempt{post("k1", "l1", 1, false, lost), post("k1", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k1", number: 2}, Stats{Posts: 2, Accepted: 1, Failed: 1, Revenue: owed}},
		{"taken and failed", []attempt{post("k1", "l1", 1, false, mute)}, outcome{fate: fateAccepted, id: "ref_k1", number: 1, failed: true}, Stats{Posts: 1, Accepted: 1, Failed: 1, Revenue: owed}},
		{"taken and failed, then told", []attempt{post("k1", "l1", 1, false, mute), post("k1", "l1", 1, false, mute)}, outcome{fate: fateAccepted, id: "ref_k1", number: 2, replayed: true}, Stats{Posts: 2, Accepted: 1, Failed: 1, Replayed: 1, Revenue: owed}},
		{"another body under the key", []attempt{post("k1", "l1", 1, false, sound), post("k1", "l1", 2, false, sound)}, outcome{fate: fateReused}, Stats{Posts: 2, Accepted: 1, Invalid: 1, Revenue: owed}},
		{"another body after a failure", []attempt{post("k1", "l1", 1, false, lost), post("k1", "l1", 2, false, sound)}, outcome{fate: fateReused}, Stats{Posts: 2, Failed: 1, Invalid: 1}},
		{"sold twice", []attempt{post("k1", "l1", 1, false, sound), post("k2", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k2", number: 1}, Stats{Posts: 2, Accepted: 2, DoubleSold: 1, Revenue: 2 * owed}},
		{"sold twice, the first in silence", []attempt{post("k1", "l1", 1, false, mute), post("k2", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k2", number: 1}, Stats{Posts: 2, Accepted: 2, Failed: 1, DoubleSold: 1, Revenue: 2 * owed}},
		{"a failed sale is none", []attempt{post("k1", "l1", 1, false, lost), post("k2", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k2", number: 1}, Stats{Posts: 2, Accepted: 1, Failed: 1, Revenue: owed}},
		{"won at its bid's price", []attempt{won(post("k1", "l1", 1, false, sound), 7), post("k2", "l2", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k2", number: 1}, Stats{Posts: 2, Accepted: 2, Won: 1, Revenue: owed + 7}},
		{"too late", []attempt{late(post("k1", "l1", 1, false, sound))}, outcome{fate: fateExpired}, Stats{Posts: 1, Expired: 1}},
		{"too late for ever", []attempt{late(post("k1", "l1", 1, false, sound)), late(post("k1", "l1", 1, false, sound))}, outcome{fate: fateExpired}, Stats{Posts: 2, Expired: 2}},
		{"in time, and told again later", []attempt{post("k1", "l1", 1, false, sound), late(post("k1", "l1", 1, false, sound))}, outcome{fate: fateAccepted, id: "ref_k1", number: 2, replayed: true}, Stats{Posts: 2, Accepted: 1, Replayed: 1, Revenue: owed}},
		{"failed in time, and taken later", []attempt{won(post("k1", "l1", 1, false, lost), owed), late(post("k1", "l1", 1, false, sound))}, outcome{fate: fateAccepted, id: "ref_k1", number: 2}, Stats{Posts: 2, Accepted: 1, Won: 1, Failed: 1, Revenue: owed}},
		{"too late and another body", []attempt{post("k1", "l1", 1, false, sound), late(post("k1", "l1", 2, false, sound))}, outcome{fate: fateReused}, Stats{Posts: 2, Accepted: 1, Invalid: 1, Revenue: owed}},
		{"refused and failed", []attempt{post("k1", "l1", 1, true, mute), post("k1", "l1", 1, false, sound)}, outcome{fate: fateRejected, id: "ref_k1", number: 2, replayed: true}, Stats{Posts: 2, Rejected: 1, Failed: 1, Replayed: 1}},
		{"a refused sale is none", []attempt{post("k1", "l1", 1, true, sound), post("k2", "l1", 1, false, sound)}, outcome{fate: fateAccepted, id: "ref_k2", number: 1}, Stats{Posts: 2, Accepted: 1, Rejected: 1, Revenue: owed}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l := newLedger(10)
			var last outcome
			for _, a := range row.posts {
				last = l.decidePost(a)
			}
			if last != row.last {
				t.Errorf("last answer\n got %+v\nwant %+v", last, row.last)
			}
			if got := l.snapshot(); got != row.stats {
				t.Errorf("stats\n got %+v\nwant %+v", got, row.stats)
			}
		})
	}
}

// TestLedgerForgets: memory is limited, and an entry is forgotten completely.
func TestLedgerForgets(t *testing.T) {
	const limit = 3
	l := newLedger(limit)
	for i := range 10 {
		l.decidePost(attempt{key: fmt.Sprint("k", i), lead: fmt.Sprint("l", i), id: fmt.Sprint("r", i), fail: always(false, false)})
	}
	if len(l.byKey) != limit || len(l.byLead) != limit {
		t.Errorf("%d keys and %d leads are remembered, want %d", len(l.byKey), len(l.byLead), limit)
	}
	got := l.acceptedLeads()
	want := []Lead{{Key: "k7", LeadUUID: "l7", LeadID: "r7"}, {Key: "k8", LeadUUID: "l8", LeadID: "r8"}, {Key: "k9", LeadUUID: "l9", LeadID: "r9"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := l.snapshot(); s.Forgotten != 7 || s.Accepted != 10 || s.DoubleSold != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestLedgerFirstAnswer: the first answer of a repeated lead counts, and an unknown key
// has no effect.
func TestLedgerFirstAnswer(t *testing.T) {
	l := newLedger(2)
	l.decidePost(attempt{key: "k", lead: "l", fail: always(false, false)})
	if at := l.acceptedLeads()[0].AnsweredAt; !at.IsZero() {
		t.Errorf("answered at %v before it was", at)
	}
	first := time.Unix(1_800_000_000, 5)
	l.recordAnswer("k", first)
	l.recordAnswer("k", first.Add(time.Second))
	l.recordAnswer("another", first)
	if at := l.acceptedLeads()[0].AnsweredAt; !at.Equal(first) {
		t.Errorf("answered at %v, want %v", at, first)
	}
}
