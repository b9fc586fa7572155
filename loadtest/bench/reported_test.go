package main

import (
	"strings"
	"testing"
)

func TestWhatAReportCostsIsJudgedByTheMedianOfThePairs(t *testing.T) {
	took := func(ms ...int64) (results []supplyResult) {
		for _, m := range ms {
			results = append(results, supplyResult{Took: quantiles{P99: m * 1e6}})
		}
		return results
	}
	for _, c := range []struct {
		name          string
		with, without []supplyResult
		verdict       verdict
		measured      string
	}{
		{"no more", took(2, 2, 2), took(2, 2, 2), met, "1.00 times (2.00 and 2.00 ms)"},
		{"one bad pair", took(2, 9, 2), took(2, 2, 2), met, "1.00 times"},
		{"a quarter more", took(5, 5, 5), took(4, 4, 4), missed, "1.25 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reportedRow("a report is kept", c.with, c.without)
			if got.verdict != c.verdict || !strings.HasPrefix(got.measured, c.measured) {
				t.Errorf("the row says %q, %v", got.measured, got.verdict)
			}
		})
	}
}

func TestAReportIsBuiltAnewFromALogOfAuctions(t *testing.T) {
	spec := &logSpec{Dir: t.TempDir(), Leads: 300, Bids: 4}
	if _, err := writeLog(spec); err != nil {
		t.Fatal(err)
	}
	got, err := rebuildAll(spec)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rate <= 0 || got.Bytes < 200 {
		t.Errorf("%.0f leads a second with %.0f bytes each: the bids of %d leads are not there", got.Rate, got.Bytes, spec.Leads)
	}
}

func TestCommitsAreMeasuredBesideABackupThatShips(t *testing.T) {
	got, err := commitPair(&commitSpec{Dir: t.TempDir() + "/log", Leads: 500, Rate: 500, Lasting: quick.lasting + 400e6})
	if err != nil {
		t.Fatal(err)
	}
	if got.ShippedBytes == 0 || got.Reported.Commits == 0 || got.Snapshots == 0 {
		t.Errorf("nothing went on beside the commits: %+v", got)
	}
}
