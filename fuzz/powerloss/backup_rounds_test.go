package main

import (
	"slices"
	"testing"

	"pingpost/fuzz/powerloss/strace"
)

// Only whole lines count, at any place in an answer.
func TestParseBackupRounds(t *testing.T) {
	const line = "pingpost_backup_last_success_timestamp_seconds 1.7638e+09\n"
	metrics := httpMessage("HTTP/1.1 200 OK")
	for what, test := range map[string]struct {
		path, sent string
		want       []backupRound
	}{
		"an answer":            {"socket:[5]", metrics("pingpost_a 1\n" + line + "pingpost_c 3\n"), []backupRound{{40, "1.7638e+09"}}},
		"a later piece of one": {"socket:[5]", "ngpost_a 1\n" + line, []backupRound{{40, "1.7638e+09"}}},
		"a number cut off":     {"socket:[5]", "pingpost_a 1\n" + line[:len(line)-2], nil},
		"another metric":       {"socket:[5]", metrics("pingpost_a 1\n"), nil},
		"a file":               {"/data/metrics", line, nil},
	} {
		calls := []*strace.Call{sentCall(test.path, test.sent)}
		if got, err := parseBackupRounds(calls); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		if got, err := parseAcks(calls); err != nil || len(got) > 0 {
			t.Errorf("%s is taken for an answer: %+v, %v", what, got, err)
		}
	}
	cut := sentCall("socket:[5]", line)
	cut.Args[1] += "..."
	if _, err := parseBackupRounds([]*strace.Call{cut}); err == nil {
		t.Error("what the tracer has cut off was read")
	}
}

// A metrics answer that ends early is ignored; the rest follows in another call.
func TestParseAcksIgnoresMetrics(t *testing.T) {
	whole := httpMessage("HTTP/1.1 200 OK")("pingpost_a 1\npingpost_b 2\n")
	if got, err := parseAcks([]*strace.Call{sentCall("socket:[5]", whole[:len(whole)-5])}); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
