package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name string
		got  verdict
		want verdict
	}{
		{"as fast as the goal", atLeast(0.8, 0.8, 0.7), met},
		{"within the limit", atLeast(0.75, 0.8, 0.7), withinLimit},
		{"at the limit", atLeast(0.7, 0.8, 0.7), withinLimit},
		{"under the limit", atLeast(0.69, 0.8, 0.7), missed},
		{"as slow as the goal", atMost(1.5, 1.5, 2), met},
		{"slower, within the limit", atMost(2, 1.5, 2), withinLimit},
		{"over the limit", atMost(2.1, 1.5, 2), missed},
		{"over a goal that is the limit", atMost(301, 300, 300), missed},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestTableFormat(t *testing.T) {
	table := table{
		machine:    []string{"Processor: a, 2 cores"},
		conditions: []string{"In turn."},
		notes:      []string{"Other load: none."},
		rows: []row{
			{label: "ingest", measured: "0.75", rangeText: "0.70 to 0.80", goal: "0.80, at least 0.70", verdict: withinLimit},
			{label: "memory", measured: "331 bytes", goal: "300 bytes or fewer", verdict: missed},
			{label: "cost", measured: "20 ns"},
		},
	}
	const want = `# Benchmarks

Written by ` + "`make bench`" + `, which measures them again on your machine.

- Processor: a, 2 cores

| measurement | measured | range | goal | verdict |
|---|---|---|---|---|
| ingest | 0.75 | 0.70 to 0.80 | 0.80, at least 0.70 | within the limit, goal missed |
| memory | 331 bytes |  | 300 bytes or fewer | missed |
| cost | 20 ns |  |  |  |

- In turn.

- Other load: none.
`
	if got := table.markdown(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestATableGoesOnPastAFailure: a failed measurement gives a row and an error, and the
// others still run.
func TestATableGoesOnPastAFailure(t *testing.T) {
	b := &bench{ctx: t.Context(), flags: &flags{}, progress: io.Discard, guard: &noiseGuard{}}
	got, err := b.table([]measurement{
		{"broken", func(*bench) ([]row, error) { return nil, errors.New("it ended:\nin a|pipe") }},
		{"sound", func(*bench) ([]row, error) { return []row{{label: "rate", measured: "7"}}, nil }},
	})
	if err == nil || !strings.HasPrefix(err.Error(), "broken: ") {
		t.Errorf("error %v", err)
	}
	want := []row{
		{label: "broken", measured: "not measured: it ended: in a/pipe", verdict: failure},
		{label: "rate", measured: "7"},
	}
	if !slices.Equal(got.rows, want) {
		t.Errorf("rows %+v", got.rows)
	}
}

// TestATableEndsWhenInterrupted: after an interrupt no measurement starts, and the table
// returns an error.
func TestATableEndsWhenInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	b := &bench{ctx: ctx, flags: &flags{}, progress: io.Discard, guard: &noiseGuard{}}
	_, err := b.table([]measurement{
		{"first", func(*bench) ([]row, error) { interrupt(); return nil, nil }},
		{"second", func(*bench) ([]row, error) { t.Error("measured"); return nil, nil }},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestAppendTable: a table of some measurements replaces only the earlier one of the same measurements.
func TestAppendTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	must.Succeed(t, os.WriteFile(path, []byte("# Benchmarks\n\n- full\n"), 0o600))
	for _, run := range [][2]string{{"cluster", "slow"}, {"start, seed", "other"}, {"cluster", "fast"}} {
		must.Succeed(t, appendTable(path, run[0], "# Benchmarks\n\nWritten by make bench.\n\n- "+run[1]+"\n"))
	}
	const want = "# Benchmarks\n\n- full\n\n## Only start, seed\n\n- other\n\n## Only cluster\n\n- fast\n"
	if got := string(must.Value(os.ReadFile(path))(t)); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if err := appendTable(path+".missing", "cluster", "# Benchmarks\n"); err == nil {
		t.Error("a table without a full one above it is written")
	}
}
