package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// builtPath is where the tests' exchange goes when it has been built.
var builtPath string

// TestMain lets the tests' own binary be the children that the bench starts.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		panic(err)
	}
	builtPath = filepath.Join(dir, "pingpost")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestOnlyAFullRunWritesTheFileOfTheRepository(t *testing.T) {
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
		if got := test.flags.target("/repo"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestOnlyChooses(t *testing.T) {
	all, two := flags{}, flags{Only: []string{"replay", "memory"}}
	for _, m := range measurements {
		if !all.wants(m.name) {
			t.Errorf("%s is not wanted by default", m.name)
		}
	}
	if !two.wants("replay") || !two.wants("memory") || two.wants("ingest") {
		t.Error("--only does not choose")
	}
	whole, part := flags{Only: []string{"auction"}}, flags{Only: []string{"auction-cpu"}}
	for _, m := range measurements {
		if is := strings.HasPrefix(m.name, "auction"); whole.wants(m.name) != is {
			t.Errorf("--only auction wants %s: %v", m.name, !is)
		}
		if is := m.name == "auction-cpu"; part.wants(m.name) != is {
			t.Errorf("--only auction-cpu wants %s: %v", m.name, !is)
		}
	}
}

func TestMistakesAreTold(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown measurement": {"--only", "weather"},
		"no runs":             {"--runs", "0"},
		"no time":             {"--seconds", "0"},
		"a folder in a file":  {"--dir", filepath.Join("main_test.go", "x")},
	} {
		var out, trouble bytes.Buffer
		if code := run(args, nil, &out, &trouble); code == 0 || !strings.HasPrefix(trouble.String(), "bench: ") {
			t.Errorf("%s: code %d, %q", name, code, trouble.String())
		}
	}
}

// The smallest run of everything that needs no server: as children, with real
// files. What it measured is nobody's business here; that it did is.
func TestQuickRunMeasuresWhatItSays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.md")
	var out, trouble bytes.Buffer
	args := []string{"--quick", "--only", "replay", "--dir", dir, "--out", path}
	if code := run(args, nil, &out, &trouble); code != 0 {
		t.Fatalf("code %d: %s", code, trouble.String())
	}
	written, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(written, out.Bytes()) {
		t.Errorf("the file and the terminal differ: %v", err)
	}
	for _, want := range []string{
		"| replay of 20000 leads on one core |",
		"| replay over a bare CRC-32C scan", "--quick run", "Other load",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 { // the table and its figures
		t.Errorf("left behind: %v, %v", left, err)
	}
}
