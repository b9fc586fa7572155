package main

import (
	"errors"
	"os"
	"testing"
	"time"

	"pingpost/internal/must"
)

func TestParseProcStat(t *testing.T) {
	total, busy, err := machineTicks("cpu  100 20 30 400 5 0 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	if err != nil || total != 570 || busy != 158 {
		t.Errorf("total %d, busy %d, %v", total, busy, err)
	}
	own, err := processTicks("42 (a) b c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", false)
	if err != nil || own != 11+12 {
		t.Errorf("own %d, %v", own, err)
	}
	all, err := processTicks("42 (bench) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", true)
	if err != nil || all != 11+12+13+14 {
		t.Errorf("with children %d, %v", all, err)
	}
	for _, text := range []string{"", "cpu 1 2", "cpux 1 2 3 4 5 6 7 8 9", "cpu a b c d e f g h i"} {
		if _, _, err := machineTicks(text); !errors.Is(err, errProc) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "42 (a) S 1 2", "42 a S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "42 (a) S 1 2 3 4 5 6 7 8 9 10 x 12 13 14 15"} {
		if _, err := processTicks(text, true); !errors.Is(err, errProc) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOtherLoad(t *testing.T) {
	before := usage{total: 1000, busy: 500, own: 100}
	for _, test := range []struct {
		after usage
		want  float64
	}{
		{usage{total: 1200, busy: 600, own: 200}, 0},    // all of it by the benchmark
		{usage{total: 1200, busy: 600, own: 150}, 0.25}, // half of what was busy
		{usage{total: 1200, busy: 600, own: 205}, 0},    // more than the machine, by rounding
		{usage{total: 1000, busy: 500, own: 100}, 0},    // no time has passed
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
		time.Sleep(2 * tick)
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

func TestParseResidentMemory(t *testing.T) {
	got, err := residentOf("Name:\tpingpost\nVmPeak:\t  900 kB\nVmRSS:\t   21272 kB\nThreads:\t8\n")
	if err != nil || got != 21272<<10 {
		t.Errorf("%d, %v", got, err)
	}
	for _, text := range []string{"", "VmRSS: many kB\n"} {
		if _, err := residentOf(text); err == nil {
			t.Errorf("%q has resident memory", text)
		}
	}
}
