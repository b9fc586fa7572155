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
	for _, m := range measurements {
		for only, want := range map[string]bool{
			"auction": strings.HasPrefix(m.name, "auction"), "auction-cpu": m.name == "auction-cpu", "replay": m.name == "replay",
			"commit": strings.HasPrefix(m.name, "commit-"), "commit-merge": m.name == "commit-merge",
		} {
			if f := (&flags{Only: []string{only}}); f.selects(m.name) != want {
				t.Errorf("--only %s selects %s: %v", only, m.name, !want)
			}
		}
		if !new(flags).selects(m.name) {
			t.Errorf("%s is not selected by default", m.name)
		}
	}
}

func TestMistakesAreReported(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown measurement": {"--only", "weather"},
		"no runs":             {"--runs", "0"},
		"no time":             {"--seconds", "0"},
		"a part of nothing":   {"--append"},
		"no checkout":         {"--only", "prebid", "--quick"},
		"too many kills":      {"--kills", "101"},
		"a folder in a file":  {"--dir", filepath.Join("main_test.go", "x")},
	} {
		var out, stderr bytes.Buffer
		if code := run(args, nil, &out, &stderr); code == 0 || !strings.HasPrefix(stderr.String(), "bench: ") {
			t.Errorf("%s: code %d, %q", name, code, stderr.String())
		}
	}
}
