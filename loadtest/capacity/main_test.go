package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const figures = `{"machine": ["Processor: a small one, 2 cores"], "values": {
"committer_leads": 250000, "memory_bytes": 250, "ingest_us_64": 25, "ingest_log_bytes": 800, "posted_us": 50, "posted_log_bytes": 1300,
"auction_us_1": 36, "auction_us_8": 130, "auction_log_bytes_1": 300, "auction_log_bytes_8": 700, "more": 1}}`

func TestSectionIsReplaced(t *testing.T) {
	marks := "before\n" + beginMark + "old section\n" + endMark + "after\n"
	for name, test := range map[string]struct {
		figures, readme string
		code            int
		want            []string // in the README, or in the error
	}{
		"full benchmark": {figures, marks, 0, []string{
			"before\n" + beginMark, endMark + "after\n", "a small one, 2 cores",
			"| leads recorded alone | 64,000 | 100,000 | 100,000 | the disk |",
			"| auctions of 8 buyers | 12,000 | 49,000 | 110,000 | the disk |",
			"| leads posted to a buyer | 50 | 1.30 GB | 0.25 GB |",
		}},
		"no marks":      {figures, "a README", 1, []string{"README.md: the section's marks"}},
		"one mark":      {figures, beginMark, 1, []string{"README.md: the section's marks"}},
		"no JSON":       {"{", marks, 1, []string{"figures.json"}},
		"partial run":   {`{"values":{"memory_bytes":250}}`, marks, 1, []string{"no committer_leads, ingest_us_64"}},
		"zero figure":   {strings.Replace(figures, "250000", "0", 1), marks, 1, []string{"no committer_leads;"}},
		"missing files": {"", "", 1, []string{"make bench"}},
	} {
		t.Chdir(t.TempDir())
		if test.figures != "" {
			if err := os.WriteFile("figures.json", []byte(test.figures), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile("README.md", []byte(test.readme), 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if code := run([]string{"--figures", "figures.json", "--readme", "README.md"}, &out, &out); code != test.code {
			t.Errorf("%s: code %d, want %d: %s", name, code, test.code, out.String())
		}
		readme, err := os.ReadFile(filepath.Join(".", "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		if test.code != 0 && string(readme) != test.readme || strings.Contains(string(readme), "old section") == (test.code == 0) && test.readme == marks {
			t.Errorf("%s: the README is now\n%s", name, readme)
		}
		for _, want := range test.want {
			if !strings.Contains(string(readme)+out.String(), want) {
				t.Errorf("%s: no %q in\n%s%s", name, want, readme, out.String())
			}
		}
	}
}

func TestRate(t *testing.T) {
	lead := work{micros: 20, entries: 1, logBytes: 1, netBytes: 1, committerRate: 1e9}
	for name, test := range map[string]struct {
		change func(*work)
		want   float64
		limit  string
	}{
		"processors": {func(*work) {}, use * 100_000, "the processors"},
		"committer":  {func(w *work) { w.committerRate = 2000; w.entries = 2 }, use * 1000, "the committer"},
		"disk":       {func(w *work) { w.logBytes = diskBytes }, use * 0.5, "the disk"},
		"network":    {func(w *work) { w.netBytes = netBits / 8 }, use * 1, "the network"},
	} {
		w := lead
		test.change(&w)
		if got, limit := w.rate(2); got != test.want || limit != test.limit {
			t.Errorf("%s: %v, limited by %s", name, got, limit)
		}
	}
}
