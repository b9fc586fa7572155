package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// writeModule writes a module with a passing target and a failing one.
func writeModule(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module small\n\ngo 1.26\n",
		"a/a.go":       "package a\n",
		"a/a_test.go":  "package a\n\nimport \"testing\"\n\nfunc FuzzGood(f *testing.F) { f.Add(1); f.Fuzz(func(*testing.T, int) {}) }\n\nfunc fuzzNothing() {}\n",
		"b/b.go":       "package b\n",
		"b/b_test.go":  "package b_test\n\nimport \"testing\"\n\nfunc FuzzBad(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Fatal(\"a fault\") }) }\n",
		"b/c_test.go":  "package b\n\nimport \"testing\"\n\nfunc TestNone(t *testing.T) {}\n",
		"c/c.go":       "package c\n",
		"c/no_test.go": "package c\n\nimport \"testing\"\n\nfunc FuzzTorn(f *testing.F) { nothing() }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindTargets(t *testing.T) {
	root := writeModule(t)
	for only, want := range map[string]string{"": "a.FuzzGood b.FuzzBad c.FuzzTorn", `^b\.`: "b.FuzzBad", "Good$": "a.FuzzGood", "none": ""} {
		targets, err := findTargets(t.Context(), root, regexp.MustCompile(only))
		var names []string
		for i := range targets {
			names = append(names, targets[i].String())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", only, got, err, want)
		}
	}
}

// The middle one of three targets finds a fault, and the last one does not build.
func TestRunContinuesAfterFailure(t *testing.T) {
	root := writeModule(t)
	o := options{executions: 10, Parallel: 1, Out: t.TempDir()}
	var out bytes.Buffer
	failed, err := o.run(t.Context(), root, &out)
	if !failed || err != nil {
		t.Errorf("failed: %v, %v", failed, err)
	}
	for _, want := range []string{`a\.FuzzGood +\d+ +\d+  pass`, `b\.FuzzBad +\d+ +\d+  FAIL`, "a fault", `c\.FuzzTorn +0? +0?  does not build`, "undefined: nothing"} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
	o.Only = "FuzzNone"
	if _, err := o.run(t.Context(), root, &out); err == nil {
		t.Error("a run without targets succeeded")
	}
}

func TestSetResult(t *testing.T) {
	const went = "fuzz: elapsed: 0s, gathering baseline coverage: 3/3 completed, now fuzzing with 1 workers\n" +
		"fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 4 (total: 7)\nfuzz: elapsed: 6s, execs: 250 (50/sec), new interesting: 5 (total: 8)\n"
	fault := errors.New("exit status 1")
	for _, row := range []struct {
		said           string
		ended, timeout error
		want           string
	}{
		{went + "PASS\n", nil, nil, "250 5 pass"},
		{went + "--- FAIL: FuzzBad\n    a fault\n", fault, nil, "250 5 FAIL --- FAIL: FuzzBad\n    a fault"},
		{strings.Repeat("x", 2*maxOutput) + "the end", fault, nil, "0 0 FAIL " + strings.Repeat("x", maxOutput-len("the end")) + "the end"},
		{went, fault, context.DeadlineExceeded, "250 5 HANGS"},
		{went, fault, context.Canceled, "250 5 interrupted"},
		{"PASS\n", nil, nil, "0 0 NOTHING RUN PASS"},
		{"fuzz: elapsed: 0s, execs: 0 (0/sec), new interesting: 0 (total: 3)\n", nil, nil, "0 0 NOTHING RUN"},
	} {
		var r target
		r.setResult(row.said, row.ended, row.timeout)
		got := strings.TrimSpace(strings.Join([]string{r.executions, r.interesting, r.result, r.output}, " "))
		if got != row.want || r.failed != (r.result != "pass") {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
