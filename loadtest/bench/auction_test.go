package main

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
)

// sales returns ten auctions of two buyers. All are sold, with each 201 after 3 ms.
func sales() (r *child.LoadResult, before, after *buyerTotals) {
	r = &child.LoadResult{Sent: 10, Done: 10}
	before = &buyerTotals{Stats: refbuyer.Stats{Pings: 5, Accepted: 2}}
	after = &buyerTotals{Stats: refbuyer.Stats{Pings: 25, Accepted: 12, PeakPings: 11}, leads: map[string]time.Time{}}
	sent := time.Unix(1_800_000_000, 0)
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		r.Posted = append(r.Posted, load.Posted{Lead: id, Sent: sent.UnixNano(), Measured: id != "a"})
		after.leads[id] = sent.Add(3 * time.Millisecond)
	}
	return r, before, after
}

func TestSellerAndBuyersAreReconciled(t *testing.T) {
	const none, mismatches = "0 of 10", "0 (the seller has 10 answers of 201, the buyers 10 leads)"
	for name, test := range map[string]struct {
		change            func(r *child.LoadResult, after *buyerTotals)
		unsold, differ    string
		verdicts          [3]verdict // unsold, late, mismatches
		post              verdict
		wantError, posted string
	}{
		"no mismatch": {change: func(*child.LoadResult, *buyerTotals) {}, verdicts: [3]verdict{met, met, met}, post: met, posted: "3.00 ms"},
		"a no-bid": {
			change: func(r *child.LoadResult, _ *buyerTotals) { r.NoBid = 1 }, unsold: "1 of 10 (1 no-bids",
			verdicts: [3]verdict{missed, met, met}, post: met,
		},
		"one late answer": {change: func(r *child.LoadResult, _ *buyerTotals) { r.Late = 1 }, verdicts: [3]verdict{met, missed, met}, post: met},
		"sold lead that no buyer has": {
			change: func(_ *child.LoadResult, after *buyerTotals) { delete(after.leads, "c"); after.Accepted-- },
			differ: "1 (the seller has 10 answers of 201, the buyers 9 leads)", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"bought lead that the seller does not have": {
			change: func(r *child.LoadResult, _ *buyerTotals) { r.Posted = r.Posted[:9] },
			differ: "1 (the seller has 9", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"the same lead id twice": {
			change: func(r *child.LoadResult, _ *buyerTotals) { r.Posted[3].Lead = "c" },
			differ: "1 (the seller has 10", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"slow post": {
			change: func(_ *child.LoadResult, after *buyerTotals) {
				after.leads["j"] = after.leads["j"].Add(100 * time.Millisecond)
			},
			verdicts: [3]verdict{met, met, met}, post: withinLimit, posted: "103.00 ms",
		},
		"slow post in the warm-up": {
			change:   func(_ *child.LoadResult, after *buyerTotals) { after.leads["a"] = after.leads["a"].Add(time.Second) },
			verdicts: [3]verdict{met, met, met}, post: met,
		},
		"sold twice":             {change: func(_ *child.LoadResult, after *buyerTotals) { after.DoubleSold = 1 }, wantError: "1 leads sold twice"},
		"contact data in a ping": {change: func(_ *child.LoadResult, after *buyerTotals) { after.ContactSeen = 2 }, wantError: "2 pings with a person"},
		"buyer forgot posts":     {change: func(_ *child.LoadResult, after *buyerTotals) { after.Forgotten = 3 }, wantError: "3 posts forgotten"},
		"no sale":                {change: func(r *child.LoadResult, _ *buyerTotals) { r.Posted = nil }, wantError: "no buyer has a lead"},
	} {
		t.Run(name, func(t *testing.T) {
			r, before, after := sales()
			test.change(r, after)
			s, err := reconcile(r, 2, before, after)
			if err != nil || test.wantError != "" {
				if err == nil || test.wantError == "" || !strings.Contains(err.Error(), test.wantError) {
					t.Fatalf("%v, want %q", err, test.wantError)
				}
				return
			}
			rows := s.rows("x: ")
			for i, begin := range []string{cmp.Or(test.unsold, none), "", cmp.Or(test.differ, mismatches)} {
				if !strings.HasPrefix(rows[i].measured, begin) || rows[i].verdict != test.verdicts[i] {
					t.Errorf("%+v, want %q, %q", rows[i], begin, test.verdicts[i])
				}
			}
			if !strings.Contains(rows[0].measured, "20 of 20 pings reached the buyers, at most 11 a second") {
				t.Errorf("%+v", rows[0])
			}
			if rows[3].verdict != test.post || !strings.HasPrefix(rows[3].measured, test.posted) {
				t.Errorf("%+v, want %s", rows[3], test.posted)
			}
		})
	}
}

func TestParseHeap(t *testing.T) {
	h, err := parseHeap("heap profile: 1: 2 [3: 4] @ heap/1048576\n\n# runtime.MemStats\n# Alloc = 1\n# TotalAlloc = 4096\n# Mallocs = 77\n# Frees = 3\n")
	if err != nil || h.objects != 77 || h.bytes != 4096 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, text := range []string{"", "# Mallocs = 1\n", "# Mallocs = x\n# TotalAlloc = 1\n"} {
		if _, err := parseHeap(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
