package main

import (
	"errors"
	"os"
	"testing"
	"time"

	"pingpost/internal/must"
)

func TestOwnUsageIsRead(t *testing.T) {
	g := noiseGuard{}
	before, ok := g.readUsage()
	if !ok {
		t.Skip("there is no /proc here")
	}
	after := before
	for began := time.Now(); after.own == before.own && time.Since(began) < 10*time.Second; {
		after, _ = g.readUsage()
	}
	if after.own <= before.own || after.busy <= 0 || after.busy >= after.total {
		t.Errorf("%+v, and then %+v", before, after)
	}
}

func TestOtherLoad(t *testing.T) {
	before := usage{total: 1000, busy: 500, own: 100}
	for _, test := range []struct {
		after usage
		want  float64
	}{
		{usage{total: 1200, busy: 600, own: 200}, 0},     // all of it by the benchmark
		{usage{total: 1200, busy: 600, own: 150}, 0.25},  // half of what was busy
		{usage{total: 1200, busy: 600, own: 205}, 0},     // more than the machine, by rounding
		{usage{total: 1000.1, busy: 500.2, own: 100}, 1}, // more than has passed, by rounding
		{usage{total: 1000, busy: 500, own: 100}, 0},     // no time has passed
	} {
		if got := test.after.others(&before); got != test.want {
			t.Errorf("%+v: %v, want %v", test.after, got, test.want)
		}
	}
}

func TestMeasureRepeatsARunWithOtherLoad(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("there is no /proc/stat here")
	}
	runs := 0
	// others is never below 0, so a negative share is always exceeded.
	g := noiseGuard{share: -1, retries: 3, logf: func(string, ...any) {}}
	count := func() error {
		runs++
		time.Sleep(20 * time.Millisecond)
		return nil
	}
	must.Succeed(t, g.measure(count))
	if runs != 4 || g.discarded != 3 || g.kept != 1 || g.runs != 4 {
		t.Errorf("%d runs, %+v", runs, g)
	}
	g = noiseGuard{share: 1, retries: 3, logf: t.Logf}
	runs = 0
	if err := g.measure(count); err != nil || runs != 1 || g.discarded != 0 || g.kept != 0 {
		t.Errorf("%d runs, %v, %+v", runs, err, g)
	}
	failed := errors.New("failed")
	if err := g.measure(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a run that failed: %v", err)
	}
}
