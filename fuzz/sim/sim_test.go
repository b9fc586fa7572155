package sim

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// number returns an integer from the environment, or the default.
func number(tb testing.TB, name string, otherwise int) int {
	tb.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
	if err != nil || n < 0 {
		tb.Fatalf("%s=%q: a number is wanted", name, os.Getenv(name))
	}
	return n
}

// TestSimulation plays the histories of consecutive seeds, each SIM_DAYS long and from
// SIM_FIRST on. Every test run uses the same few known seeds; a slow machine plays fewer of
// them. With SIM_SECONDS it continues with new seeds for that long. SIM_SEED plays one seed
// only. The first failing history is reduced and printed; a file in testdata replays it.
func TestSimulation(t *testing.T) {
	const seen = 60
	seconds, most, days := 20, seen, number(t, "SIM_DAYS", 30)
	if testing.Short() {
		seconds = 3
	}
	if os.Getenv("SIM_SECONDS") != "" {
		seconds, most = number(t, "SIM_SECONDS", 0), math.MaxInt
	}
	seed := uint64(number(t, "SIM_FIRST", 1))
	if os.Getenv("SIM_SEED") != "" {
		seed, most = uint64(number(t, "SIM_SEED", 0)), 1
	}
	began := time.Now()
	var played time.Duration
	steps, histories := 0, 0
	for ; histories == 0 || histories < most && time.Since(began) < time.Duration(seconds)*time.Second; seed++ {
		history := generate(seed, days)
		failure, span := run(t, history)
		played += span
		steps += len(history)
		histories++
		if failure != "" {
			report(t, seed, days, history, failure)
			return
		}
	}
	took := time.Since(began)
	t.Logf("%d histories, %d steps, %.0f exchange-days in %s: %.0f exchange-days a minute",
		histories, steps, played.Hours()/24, took.Round(time.Millisecond), played.Hours()/24/took.Minutes())
}

// report reports a failure with the shortest failing history.
func report(t *testing.T, seed uint64, days int, history []line, failure string) {
	t.Helper()
	t.Errorf("seed %d (again: SIM_SEED=%d SIM_DAYS=%d): %s", seed, seed, days, failure)
	tries := 0
	short := shrink(history, func(h []line) bool {
		tries++
		failed, _ := run(t, h)
		return kind(failed) == kind(failure)
	}, time.Now().Add(time.Duration(number(t, "SIM_SHRINK", 60))*time.Second))
	failure, _ = run(t, short)
	t.Errorf("the shortest history found in %d tries has %d lines. Put them into a file testdata/NAME.txt to play them again:\n\n// %s\n%s",
		tries, len(short), strings.ReplaceAll(failure, "\n", "\n// "), printHistory(short))
}

// kind returns the kind of a failure: the beginning of its text.
func kind(failure string) string {
	said := failure[strings.LastIndexByte(failure, '\n')+1:]
	return said[:min(len(said), cmp.Or(max(0, strings.IndexAny(said, "#\"0123456789")), len(said)))]
}

// TestHistories plays the saved histories: earlier failures and rare events.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no histories are kept: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text := must.Value(os.ReadFile(file))(t)
			history := must.Value(parseHistory(string(text)))(t)
			if failure, _ := run(t, history); failure != "" {
				t.Error(failure)
			}
		})
	}
}

// A printed history parses to the same history.
func TestHistoryIsText(t *testing.T) {
	history := generate(1, 5)
	again, err := parseHistory(printHistory(history))
	if err != nil || fmt.Sprint(again) != fmt.Sprint(history) {
		t.Errorf("%v: other lines are read than were written", err)
	}
	for _, wrong := range []string{"+1x lead", "+1h"} {
		if _, err := parseHistory(wrong); err == nil {
			t.Errorf("%q is read as a history", wrong)
		}
	}
}
