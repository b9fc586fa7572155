package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes one with a package whose benchmark costs what the text says,
// commits it, and lets it be changed after that.
func repository(t *testing.T, before, now string) (root string) {
	t.Helper()
	root = t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module measured\n\ngo 1.26\n")
	write(".gitignore", "tmp/\n")
	write("work/work.go", "package work\n")
	write("work/work_test.go", before)
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "before"},
	} {
		if said, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	write("work/work_test.go", now)
	return root
}

const benchmarks = `package work

import (
	"testing"
	"time"
)

func BenchmarkChanged(b *testing.B) {
	for range b.N {
		COST
	}
}

func BenchmarkStays(b *testing.B) {
	for range b.N {
		time.Sleep(20 * time.Microsecond)
	}
	b.ReportMetric(7, "things/op")
}
`

func costs(cost string) string { return strings.Replace(benchmarks, "COST", cost, 1) }

// TestWhatGotSlowerIsSaid: by real builds of a real revision, where one benchmark
// makes garbage that it did not make before.
func TestWhatGotSlowerIsSaid(t *testing.T) {
	root := repository(t, costs("_ = make([]byte, 0)"), costs("sink = make([]byte, 64<<10)")+"\nvar sink []byte\n")
	t.Chdir(root)
	var out, progress bytes.Buffer
	if code := run([]string{"--base", "HEAD", "--count", "6", "--time", "100x", "--strict"}, &out, &progress); code != 1 {
		t.Errorf("code %d, and something got slower: %s", code, progress.String())
	}
	bytesMore := false
	for line := range strings.Lines(out.String()) {
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.HasPrefix(fields[2], "Changed") && fields[3] == "B/op" {
			bytesMore = fields[0] == "slower"
		}
		if strings.Contains(line, "things/op") && fields[0] != "~" {
			t.Errorf("what is the same is told as %s", line)
		}
	}
	if !bytesMore {
		t.Errorf("not told:\n%s", out.String())
	}
	if _, err := os.Stat(filepath.Join(root, "tmp", "compare", "base")); err == nil {
		t.Error("the base's files were left behind")
	}
	for _, side := range sideNames {
		text, err := os.ReadFile(filepath.Join(root, "tmp", "compare", side+".txt"))
		if err != nil || strings.Count(string(text), "BenchmarkChanged") != 6 {
			t.Errorf("%s: %v\n%s", side, err, text)
		}
	}
}

func TestMistakesAreTold(t *testing.T) {
	t.Chdir(repository(t, costs(""), costs("undefined()")))
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no base":             {nil, "--base"},
		"no such revision":    {[]string{"--base", "nobodys"}, "nobodys"},
		"no such benchmark":   {[]string{"--base", "HEAD", "--bench", "Nothing"}, "no package has a benchmark"},
		"no expression":       {[]string{"--base", "HEAD", "--bench", "("}, "--bench"},
		"no run":              {[]string{"--base", "HEAD", "--count", "0"}, "--count"},
		"what does not build": {[]string{"--base", "HEAD", "--count", "1"}, "undefined"},
	} {
		var out, progress bytes.Buffer
		if code := run(test.args, &out, &progress); code != 1 || !strings.Contains(progress.String(), test.want) {
			t.Errorf("%s: code %d, want %q in %s", name, code, test.want, progress.String())
		}
	}
}

// sampled makes both sides of some figures: each round of a figure is its value
// and up to a tenth of noise.
func sampled(t *testing.T, rounds int, figures map[figure][2]float64) *samples {
	t.Helper()
	s, err := newSamples(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	chance := rand.New(rand.NewPCG(1, 2))
	for f, both := range figures {
		s.order = append(s.order, f)
		for side, value := range both {
			for range rounds {
				s.values[side][f] = append(s.values[side][f], value*(1+0.1*chance.Float64()))
			}
		}
	}
	return s
}

func TestVerdicts(t *testing.T) {
	want := map[figure]verdict{}
	figures := map[figure][2]float64{}
	for f, row := range map[figure]struct {
		before, now float64
		want        verdict
	}{
		{"p", "Dearer", "ns/op"}:      {100, 130, slower},
		{"p", "Cheaper", "ns/op"}:     {130, 100, faster},
		{"p", "Throughput", "MB/s"}:   {100, 130, faster},
		{"p", "Fewer", "req/s"}:       {130, 100, slower},
		{"p", "Same", "ns/op"}:        {100, 100, same},
		{"p", "OutOfNoise", "sec/op"}: {100, 101, same},
	} {
		want[f], figures[f] = row.want, [2]float64{row.before, row.now}
	}
	compared, err := sampled(t, 10, figures).compare(0.02)
	if err != nil {
		t.Fatal(err)
	}
	for i := range compared {
		if c := &compared[i]; c.verdict != want[c.figure] {
			t.Errorf("%s %s: %s, want %s (%+.2f, p %.4f)", c.name, c.unit, c.verdict, want[c.figure], c.change(), c.p)
		}
	}
	if table := compared.table("rev"); !strings.Contains(table, "6 figures: 2 slower, 2 faster, 2 without") {
		t.Error(table)
	}
	if few, err := sampled(t, 3, figures).compare(0.02); err != nil || few.slower() > 0 {
		t.Errorf("three rounds prove nothing: %v, %v", few, err)
	}
}

// TestChanceIsNotTold: of many figures that are the same, next to none is told as
// another.
func TestChanceIsNotTold(t *testing.T) {
	figures := map[figure][2]float64{}
	for i := range 400 {
		figures[figure{"p", string(rune('a'+i%26)) + strings.Repeat("x", i/26), "ns/op"}] = [2]float64{100, 100}
	}
	compared, err := sampled(t, 8, figures).compare(0)
	if err != nil {
		t.Fatal(err)
	}
	if told := compared.count(slower) + compared.count(faster); told > 2 {
		t.Errorf("%d of 400 figures are told to differ, and none does", told)
	}
}
