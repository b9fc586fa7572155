package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTwoProgramsAreMeasuredInTurn: each side's samples have a line for every run
// of everything that is compared.
func TestTwoProgramsAreMeasuredInTurn(t *testing.T) {
	b := small(t)
	dir := t.TempDir()
	b.flags.Against = b.exchange
	b.flags.Samples, b.flags.TheirSamples = filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	b.size.runs = 2
	if err := b.against(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{b.flags.Samples, b.flags.TheirSamples} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"BenchmarkIngest/connections=4 1 ", "BenchmarkAuction/buyers=1 1 ", "BenchmarkAuction/buyers=2 1 "} {
			if n := strings.Count(string(text), name); n != 2 {
				t.Errorf("%s: %d lines begin with %q, want one a run:\n%s", path, n, name, text)
			}
		}
		if strings.Contains(string(text), " 0 p99-ns/op") || !strings.Contains(string(text), "cpu-ns/op") {
			t.Errorf("nothing was measured:\n%s", text)
		}
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatIsNoneEndsTheComparison(t *testing.T) {
	b := small(t)
	b.flags.Against = filepath.Join(t.TempDir(), "none")
	if err := b.against(); err == nil {
		t.Error("a program that is not there was measured")
	}
}
