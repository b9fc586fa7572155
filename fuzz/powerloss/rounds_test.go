package main

import (
	"slices"
	"testing"

	"pingpost/fuzz/powerloss/strace"
)

// TestRoundsAreReadFromMetrics: whole lines alone, in whatever piece of an answer.
func TestRoundsAreReadFromMetrics(t *testing.T) {
	const line = "pingpost_backup_last_success_timestamp_seconds 1.7638e+09\n"
	metrics := http11("HTTP/1.1 200 OK")
	for what, test := range map[string]struct {
		path, sent string
		want       []round
	}{
		"an answer":            {"socket:[5]", metrics("pingpost_a 1\n" + line + "pingpost_c 3\n"), []round{{40, "1.7638e+09"}}},
		"a later piece of one": {"socket:[5]", "ngpost_a 1\n" + line, []round{{40, "1.7638e+09"}}},
		"a number cut off":     {"socket:[5]", "pingpost_a 1\n" + line[:len(line)-2], nil},
		"another metric":       {"socket:[5]", metrics("pingpost_a 1\n"), nil},
		"a file":               {"/data/metrics", line, nil},
	} {
		calls := []*strace.Call{sends(test.path, test.sent)}
		if got, err := rounds(calls); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		if got, err := acks(calls); err != nil || len(got) > 0 {
			t.Errorf("%s is taken for an answer: %+v, %v", what, got, err)
		}
	}
	cut := sends("socket:[5]", line)
	cut.Args[1] += "..."
	if _, err := rounds([]*strace.Call{cut}); err == nil {
		t.Error("what the tracer has cut off was read")
	}
}

// TestHalfAMetricsAnswerIsNoAnswer that ends too early: its rest comes in another call.
func TestHalfAMetricsAnswerIsNoAnswer(t *testing.T) {
	whole := http11("HTTP/1.1 200 OK")("pingpost_a 1\npingpost_b 2\n")
	if got, err := acks([]*strace.Call{sends("socket:[5]", whole[:len(whole)-5])}); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
