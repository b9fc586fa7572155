package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const figures = `{"machine": ["Processor: a small one, 2 cores"], "values": {
"committer_leads": 250000, "memory_bytes": 250, "ingest_us_64": 25, "ingest_log_bytes": 800, "posted_us": 50, "posted_log_bytes": 1300,
"auction_us_1": 36, "auction_us_8": 130, "auction_log_bytes_1": 300, "auction_log_bytes_8": 700, "more": 1}}`

// TestWhatEndsANode: each resource ends it where it is the scarcest, and only there.
func TestWhatEndsANode(t *testing.T) {
	plenty := assumptions{use: 1, diskBytes: 1e12, rewritten: 1, netBits: 1e15, coreMemory: 1e9, days: 1}
	lead := work{"a lead", 20, 1, 1000, 1000}
	for name, test := range map[string]struct {
		change func(*assumptions, *measured)
		cores  float64
		want   float64
		limit  limit
	}{
		"two cores":            {func(*assumptions, *measured) {}, 2, 100_000, byHandlers},
		"thirty-two cores":     {func(*assumptions, *measured) {}, 32, 1_600_000, byHandlers},
		"a slow committer":     {func(_ *assumptions, m *measured) { m.committer = 200_000 }, 32, 200_000, byCommitter},
		"a slow disk":          {func(a *assumptions, _ *measured) { a.diskBytes = 50e6 }, 8, 50_000, byDisk},
		"a disk written twice": {func(a *assumptions, _ *measured) { a.diskBytes, a.rewritten = 50e6, 2 }, 8, 25_000, byDisk},
		"a thin wire":          {func(a *assumptions, _ *measured) { a.netBits = 8e6 }, 2, 1000, byNetwork},
		"half of it":           {func(a *assumptions, _ *measured) { a.use = 0.5 }, 2, 50_000, byHandlers},
	} {
		a, m := plenty, measured{committer: 1e9, memory: 500}
		test.change(&a, &m)
		if c := a.carries(&lead, &m, test.cores); math.Abs(c.perSecond-test.want) > 1e-6 || c.limit != test.limit {
			t.Errorf("%s: %.0f, by %s; want %.0f, by %s", name, c.perSecond, c.limit, test.want, test.limit)
		}
	}
	two := lead
	two.entries = 2
	m := measured{committer: 1000, memory: 500}
	if c := plenty.carries(&two, &m, 4); c.perSecond != 500 || c.held != 8e6 || math.Abs(c.heldRate-8e6/86400) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

func TestAMillion(t *testing.T) {
	a := assumptions{use: 0.5, coreHour: 3600, gigaMonth: 2, historyDays: 60}
	got := a.costs(&work{micros: 25, logBytes: 800}, &measured{memory: 250})
	want := million{coreSeconds: 25, logGigabytes: 0.8, memoryGigabytes: 0.25, dollars: 25/0.5 + 0.8*2*2}
	if math.Abs(got.dollars-want.dollars) > 1e-9 || got.coreSeconds != want.coreSeconds || got.logGigabytes != want.logGigabytes || got.memoryGigabytes != want.memoryGigabytes {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFiguresAreNotMoreExactThanTheModel(t *testing.T) {
	for x, want := range map[float64]string{0: "-", 1.26: "1.3", 12.6: "13", 1234: "1,200", 64_000: "64,000", 1_250_000: "1,300,000", math.Inf(1): "-"} {
		if got := rounded(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}

// place is a folder with figures and a README.
func place(t *testing.T, figures, readme string) (args []string, readmePath string) {
	t.Helper()
	dir := t.TempDir()
	readmePath = filepath.Join(dir, "README.md")
	for path, text := range map[string]string{filepath.Join(dir, "figures.json"): figures, readmePath: readme} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--figures", filepath.Join(dir, "figures.json"), "--readme", readmePath}, readmePath
}

func TestTheSectionIsWrittenBetweenItsMarks(t *testing.T) {
	args, path := place(t, figures, "before\n"+beginMark+"what was\n"+endMark+"after\n")
	for range 2 { // the second time it is the same
		if code := run(args, os.Stdout, os.Stderr); code != 0 {
			t.Fatal(code)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := string(text)
	for _, want := range []string{
		"before\n" + beginMark, endMark + "after\n", "a small one, 2 cores",
		"| leads recorded alone | 64,000 | 100,000 | 100,000 | the disk |",
		"| auctions of 8 buyers | 12,000 | 49,000 | 110,000 | the disk |",
		"| leads posted to a buyer | 50 | 1.30 GB | 0.25 GB |",
	} {
		if !strings.Contains(written, want) {
			t.Errorf("no %q in\n%s", want, written)
		}
	}
	if strings.Contains(written, "what was") {
		t.Error("the old section is still there")
	}
}

func TestMistakesAreTold(t *testing.T) {
	for name, test := range map[string]struct{ figures, readme, want string }{
		"no marks":     {figures, "a README", "marks of the section"},
		"one mark":     {figures, beginMark, "marks of the section"},
		"no JSON":      {"{", beginMark + endMark, "figures.json"},
		"a quick run":  {`{"values":{"memory_bytes":250}}`, beginMark + endMark, "no committer_leads, ingest_us_64"},
		"a zero there": {strings.Replace(figures, "250000", "0", 1), beginMark + endMark, "no committer_leads;"},
	} {
		args, path := place(t, test.figures, test.readme)
		var out, trouble bytes.Buffer
		if code := run(args, &out, &trouble); code != 1 || !strings.Contains(trouble.String(), test.want) {
			t.Errorf("%s: code %d, %q in %s", name, code, test.want, trouble.String())
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != test.readme {
			t.Errorf("%s: the README was touched: %v", name, err)
		}
	}
	var out, trouble bytes.Buffer
	if code := run([]string{"--figures", filepath.Join(t.TempDir(), "none")}, &out, &trouble); code != 1 || !strings.Contains(trouble.String(), "make bench") {
		t.Errorf("without figures: %d %s", code, trouble.String())
	}
}
