package main

import "testing"

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name string
		got  verdict
		want verdict
	}{
		{"as fast as the goal", atLeast(0.8, 0.8, 0.7), met},
		{"within the limit", atLeast(0.75, 0.8, 0.7), between},
		{"at the limit", atLeast(0.7, 0.8, 0.7), between},
		{"under the limit", atLeast(0.69, 0.8, 0.7), missed},
		{"as slow as the goal", atMost(1.5, 1.5, 2), met},
		{"slower, within the limit", atMost(2, 1.5, 2), between},
		{"over the limit", atMost(2.1, 1.5, 2), missed},
		{"over a goal that is the limit", atMost(301, 300, 300), missed},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestTableTellsMissesBesideTheGoals(t *testing.T) {
	table := table{
		machine:    []string{"Processor: a, 2 cores"},
		conditions: []string{"In turn."},
		notes:      []string{"Other load: none."},
		rows: []row{
			{what: "ingest", measured: "0.75", spread: "0.70 to 0.80", goal: "0.80, at least 0.70", verdict: between},
			{what: "memory", measured: "331 bytes", goal: "300 bytes or fewer", verdict: missed},
			{what: "cost", measured: "20 ns"},
		},
	}
	const want = `# Benchmarks

Written by ` + "`make bench`" + `, which measures them again on your machine.

- Processor: a, 2 cores

| what | measured | range | goal | verdict |
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
