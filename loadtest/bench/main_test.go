package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutputPath(t *testing.T) {
	for name, test := range map[string]struct {
		flags flags
		want  string
	}{
		"full":        {flags{}, "/repo/BENCHMARKS.md"},
		"one":         {flags{Only: []string{"replay"}}, ""},
		"quick":       {flags{Quick: true}, ""},
		"named":       {flags{Out: "x.md"}, "x.md"},
		"named quick": {flags{Out: "x.md", Quick: true}, "x.md"},
	} {
		if got := test.flags.outputPath("/repo"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestOnlySelects(t *testing.T) {
	all, two := flags{}, flags{Only: []string{"replay", "memory"}}
	for _, m := range measurements {
		if !all.selects(m.name) {
			t.Errorf("%s is not selected by default", m.name)
		}
	}
	if !two.selects("replay") || !two.selects("memory") || two.selects("ingest") {
		t.Error("--only does not select")
	}
	whole, part := flags{Only: []string{"auction"}}, flags{Only: []string{"auction-cpu"}}
	for _, m := range measurements {
		if is := strings.HasPrefix(m.name, "auction"); whole.selects(m.name) != is {
			t.Errorf("--only auction wants %s: %v", m.name, !is)
		}
		if is := m.name == "auction-cpu"; part.selects(m.name) != is {
			t.Errorf("--only auction-cpu wants %s: %v", m.name, !is)
		}
	}
}

func TestMistakesAreReported(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown measurement": {"--only", "weather"},
		"no runs":             {"--runs", "0"},
		"no time":             {"--seconds", "0"},
		"a folder in a file":  {"--dir", filepath.Join("main_test.go", "x")},
	} {
		var out, stderr bytes.Buffer
		if code := run(args, nil, &out, &stderr); code == 0 || !strings.HasPrefix(stderr.String(), "bench: ") {
			t.Errorf("%s: code %d, %q", name, code, stderr.String())
		}
	}
}
