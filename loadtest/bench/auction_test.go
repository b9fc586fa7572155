package main

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
)

// auctionsAt is as many runs of 1,000 auctions as there are processor times
// given, in microseconds.
func auctionsAt(micros ...float64) (runs []sellerResult) {
	for _, m := range micros {
		runs = append(runs, sellerResult{Sent: 1000, ServerTime: m * 1e-6 * 1000, Rate: 500, Busy: 0.25, BuyersBusy: 0.5, Objects: 10, Bytes: 1000})
	}
	return runs
}

func TestProcessorTimeIsJudgedByTheMedianOfThePairs(t *testing.T) {
	for _, test := range []struct {
		name         string
		buyers       int
		ours, theirs []sellerResult
		measured     string
		spread       string
		verdict      verdict
	}{
		{"at the goal", 8, auctionsAt(149, 149, 149), auctionsAt(100, 100, 100), "1.49 times (149.0 and 100.0 µs)", "1.49 to 1.49", met},
		{"within the limit", 4, auctionsAt(160, 400, 150), auctionsAt(100, 100, 100), "1.60 times (160.0 and 100.0 µs)", "1.50 to 4.00", between},
		{"over it", 8, auctionsAt(210, 210), auctionsAt(100, 100), "2.10 times (210.0 and 100.0 µs)", "2.10 to 2.10", missed},
		{"one buyer has no goal below the limit", 1, auctionsAt(199), auctionsAt(100), "1.99 times (199.0 and 100.0 µs)", "", met},
		{"a machine that slows down slows both", 8, auctionsAt(140, 280, 420), auctionsAt(100, 200, 300), "1.40 times (280.0 and 200.0 µs)", "1.40 to 1.40", met},
	} {
		rows := auctionTimeRows(test.buyers, &sides{ours: test.ours, bare: test.theirs, keeping: test.theirs})
		if r := rows[0]; r.measured != test.measured || r.spread != test.spread || r.verdict != test.verdict {
			t.Errorf("%s: %+v", test.name, r)
		}
		if r := rows[1]; !strings.Contains(r.what, "records as many bytes") || r.measured != test.measured || r.verdict != told {
			t.Errorf("%s: %+v", test.name, r)
		}
		if r := rows[2]; !strings.Contains(r.what, "allocations") || r.measured != "10.0 of 1000 bytes together, the ceiling's 10.0 of 1000" {
			t.Errorf("%s: %+v", test.name, r)
		}
		if r := rows[3]; !strings.Contains(r.measured, "seller kept 25 and 25 % of a core busy, the buyers 50 and 50") {
			t.Errorf("%s: %+v", test.name, r)
		}
	}
}

func TestLatencyIsJudgedByWhatIsAdded(t *testing.T) {
	at := func(millis ...float64) (runs []sellerResult) {
		for _, m := range millis {
			runs = append(runs, sellerResult{Bid: quantiles{P50: int64(m * 0.5e6), P99: int64(m * 1e6)}})
		}
		return runs
	}
	for _, test := range []struct {
		ours, theirs []sellerResult
		measured     string
		verdict      verdict
	}{
		{at(21.5, 22.5, 21.9), at(21, 22, 21), "0.50 ms more (21.90 and 21.00 ms)", met},
		{at(22.5), at(21), "1.50 ms more (22.50 and 21.00 ms)", between},
		{at(24), at(21), "3.00 ms more (24.00 and 21.00 ms)", missed},
		{at(20), at(21), "-1.00 ms more (20.00 and 21.00 ms)", met},
	} {
		if r := auctionLatencyRows(8, &sides{test.ours, test.theirs, test.theirs})[0]; r.measured != test.measured || r.verdict != test.verdict {
			t.Errorf("want %s %s: %+v", test.measured, test.verdict, r)
		}
	}
	refusing := at(20, 20)
	refusing[1].Sent, refusing[1].Refused = 100, 3
	if r := auctionLatencyRows(8, &sides{refusing, at(21, 21), at(21, 21)})[0]; r.verdict != missed || !strings.HasSuffix(r.measured, "; 3 of 100 auctions had no bid") {
		t.Errorf("who refuses is quick: %+v", r)
	}
}

// Of 2 ms more, a ceiling that records has 0.5 as well.
func TestTheRecordsShareOfALatencyIsTold(t *testing.T) {
	at := func(millis float64) []sellerResult { return []sellerResult{{Bid: quantiles{P99: int64(millis * 1e6)}}} }
	r := auctionLatencyRows(8, &sides{ours: at(23), bare: at(21), keeping: at(21.5)})[1]
	if want := "0.50 ms (21.50 ms); beyond that the exchange has 1.50 ms more"; r.measured != want {
		t.Errorf("want %s: %+v", want, r)
	}
}

// sales are ten auctions of two buyers, all sold, each buyer's 201 after 3 ms.
func sales() (r *sellerResult, before, after *bought) {
	r = &sellerResult{Sent: 10, Done: 10}
	before = &bought{Stats: refbuyer.Stats{Pings: 5, Accepted: 2}}
	after = &bought{Stats: refbuyer.Stats{Pings: 25, Accepted: 12, PeakPings: 11}, leads: map[string]time.Time{}}
	sent := time.Unix(1_800_000_000, 0)
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		r.Posted = append(r.Posted, load.Posted{Lead: id, Sent: sent.UnixNano(), Measured: id != "a"})
		after.leads[id] = sent.Add(3 * time.Millisecond)
	}
	return r, before, after
}

func TestSellerAndBuyersAreHeldAgainstEachOther(t *testing.T) {
	const none, astray = "0 of 10", "0 (the seller has 10 answers of 201, the buyers 10 leads)"
	for name, test := range map[string]struct {
		change          func(r *sellerResult, after *bought)
		unsold, differ  string
		verdicts        [3]verdict // unsold, late, told differently
		post            verdict
		trouble, posted string
	}{
		"all is well": {change: func(*sellerResult, *bought) {}, verdicts: [3]verdict{met, met, met}, post: met, posted: "3.00 ms"},
		"a no-bid": {
			change: func(r *sellerResult, _ *bought) { r.NoBid = 1 }, unsold: "1 of 10 (1 no-bids",
			verdicts: [3]verdict{missed, met, met}, post: met,
		},
		"one came late": {change: func(r *sellerResult, _ *bought) { r.Overdue = 1 }, verdicts: [3]verdict{met, missed, met}, post: met},
		"a lead that nobody has": {
			change: func(_ *sellerResult, after *bought) { delete(after.leads, "c"); after.Accepted-- },
			differ: "1 (the seller has 10 answers of 201, the buyers 9 leads)", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"a lead that nobody was told of": {
			change: func(r *sellerResult, _ *bought) { r.Posted = r.Posted[:9] },
			differ: "1 (the seller has 9", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"one lead told twice": {
			change: func(r *sellerResult, _ *bought) { r.Posted[3].Lead = "c" },
			differ: "1 (the seller has 10", verdicts: [3]verdict{met, met, missed}, post: met,
		},
		"a slow one": {
			change:   func(_ *sellerResult, after *bought) { after.leads["j"] = after.leads["j"].Add(100 * time.Millisecond) },
			verdicts: [3]verdict{met, met, met}, post: between, posted: "103.00 ms",
		},
		"a slow one of the warm-up": {
			change:   func(_ *sellerResult, after *bought) { after.leads["a"] = after.leads["a"].Add(time.Second) },
			verdicts: [3]verdict{met, met, met}, post: met,
		},
		"sold twice":             {change: func(_ *sellerResult, after *bought) { after.DoubleSold = 1 }, trouble: "1 leads sold twice"},
		"a person in a ping":     {change: func(_ *sellerResult, after *bought) { after.ContactSeen = 2 }, trouble: "2 pings with a person"},
		"too many to be counted": {change: func(_ *sellerResult, after *bought) { after.Forgotten = 3 }, trouble: "3 posts forgotten"},
		"nothing sold":           {change: func(r *sellerResult, _ *bought) { r.Posted = nil }, trouble: "no post was sold"},
	} {
		t.Run(name, func(t *testing.T) {
			r, before, after := sales()
			test.change(r, after)
			s, err := account(r, 2, before, after)
			if err != nil || test.trouble != "" {
				if err == nil || test.trouble == "" || !strings.Contains(err.Error(), test.trouble) {
					t.Fatalf("%v, want %q", err, test.trouble)
				}
				return
			}
			rows := s.rows("x: ")
			for i, begin := range []string{cmp.Or(test.unsold, none), "", cmp.Or(test.differ, astray)} {
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

func TestHeapIsRead(t *testing.T) {
	h, err := heapOf("heap profile: 1: 2 [3: 4] @ heap/1048576\n\n# runtime.MemStats\n# Alloc = 1\n# TotalAlloc = 4096\n# Mallocs = 77\n# Frees = 3\n")
	if err != nil || h.objects != 77 || h.bytes != 4096 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, text := range []string{"", "# Mallocs = 1\n", "# Mallocs = x\n# TotalAlloc = 1\n"} {
		if _, err := heapOf(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
