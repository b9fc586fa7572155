package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// benchOutput returns benchmark results: each round of a figure is its value with up
// to a tenth of noise.
func benchOutput(seed uint64, rounds int, figures map[string]float64) []byte {
	var out bytes.Buffer
	noise := rand.New(rand.NewPCG(seed, 2))
	fmt.Fprintln(&out, "pkg: p")
	for range rounds {
		for name, value := range figures {
			fmt.Fprintf(&out, "Benchmark%s 1 %f %s\n", strings.Fields(name)[0], value*(1+0.1*noise.Float64()), strings.Fields(name)[1])
		}
	}
	return out.Bytes()
}

func TestVerdicts(t *testing.T) {
	figures := [2]map[string]float64{{}, {}}
	want := map[string]verdict{}
	for _, test := range []struct {
		name       string
		base, head float64
		want       verdict
	}{
		{"MoreTime ns/op", 100, 130, slowerVerdict},
		{"LessTime ns/op", 130, 100, fasterVerdict},
		{"MoreRate MB/s", 100, 130, fasterVerdict},
		{"LessRate req/s", 130, 100, slowerVerdict},
		{"Same ns/op", 100, 100, noDifference},
		{"WithinNoise B/op", 100, 101, noDifference},
	} {
		figures[0][test.name], figures[1][test.name] = test.base, test.head
		want[strings.Fields(test.name)[0]] = test.want
	}
	rows, err := judge(benchOutput(1, 10, figures[0]), benchOutput(2, 10, figures[1]), 0.03)
	if err != nil || len(rows) != len(want) {
		t.Fatal(err, len(rows))
	}
	for _, r := range rows {
		if r.verdict != want[r.name] {
			t.Errorf("%s: %s, want %s (%+.2f, p %.4f)", r.name, r.verdict, want[r.name], r.change(), r.p)
		}
	}
	if text := table(rows); !strings.HasPrefix(text, "6 figures: 2 slower, 2 faster, 2 without") {
		t.Error(text)
	}
	few, err := judge(benchOutput(1, 3, figures[0]), benchOutput(2, 3, figures[1]), 0.03)
	if err != nil || count(few, slowerVerdict) > 0 {
		t.Errorf("three rounds cannot show a difference: %v", err)
	}
}

// TestFalseDifferences: of many equal figures, almost none is reported as different.
func TestFalseDifferences(t *testing.T) {
	figures := map[string]float64{}
	for i := range 400 {
		figures[fmt.Sprintf("Equal%d ns/op", i)] = 100
	}
	rows, err := judge(benchOutput(1, 8, figures), benchOutput(2, 8, figures), 0)
	if err != nil {
		t.Fatal(err)
	}
	if different := len(rows) - count(rows, noDifference); different > 2 {
		t.Errorf("%d of 400 equal figures are reported as different", different)
	}
}

// TestCompareRevisions builds a repository whose working tree allocates more than its
// commit.
func TestCompareRevisions(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const benchmark = "package work\n\nimport \"testing\"\n\nvar sink []byte\n\nfunc BenchmarkMake(b *testing.B) {\n\tfor range b.N {\n\t\tsink = make([]byte, %d)\n\t}\n}\n"
	write("go.mod", "module measured\n\ngo 1.26\n")
	write("work/work_test.go", fmt.Sprintf(benchmark, 16))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "base"}} {
		if said, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	write("work/work_test.go", fmt.Sprintf(benchmark, 64<<10))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--base", "HEAD", "--count", "6", "--time", "100x", "--strict"}, "slower"},
		{nil, "--base"},
		{[]string{"--base", "missing"}, `revision "missing"`},
		{[]string{"--base", "HEAD", "--bench", "Nothing"}, "no package"},
		{[]string{"--base", "HEAD", "--bench", "("}, "--bench"},
		{[]string{"--base", "HEAD", "--count", "0"}, "--count"},
	} {
		var out bytes.Buffer
		if code := run(test.args, &out, &out); code != 1 || !strings.Contains(out.String(), test.want) {
			t.Errorf("%v: code %d, want %q in\n%s", test.args, code, test.want, out.String())
		}
	}
	head, err := os.ReadFile("tmp/compare/head.txt")
	if err != nil || strings.Count(string(head), "BenchmarkMake") != 6 {
		t.Errorf("%v\n%s", err, head)
	}
	if _, err := os.Stat("tmp/compare/base"); err == nil {
		t.Error("the base's tree remains")
	}
}
