package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestMain runs the tests, or the role of a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "role-") {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestQuickReport measures the reports of small exchanges. The figures have no meaning, but each row has
// to be there.
func TestQuickReport(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an exchange and measures it")
	}
	var out, progress bytes.Buffer
	code := run([]string{"--quick", "--only", "report", "--dir", t.TempDir()}, nil, &out, &progress)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out.String(), progress.String())
	}
	for _, row := range []string{
		"ingest p99 while 5 viewers have the dashboard open and 20 alert rules are evaluated, over that without both",
		"data of a page of the console with 200 leads of a month in the report, the slowest of",
		"200 leads in the report: GET audit, newest | p50 ", "200 leads in the report: POST leads/find, by phone | p50 ",
		"200 leads in the report: GET report, totals of a month by day,buyer | p50 ", "200 leads in the report: GET overview | p50 ",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the table lacks %q:\n%s", row, out.String())
		}
	}
}

// TestQuickCluster ends, stops and changes the leader of a small cluster, and sends leads to it.
func TestQuickCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an exchange and measures a cluster of it")
	}
	var out, progress bytes.Buffer
	code := run([]string{"--quick", "--only", "cluster", "--dir", t.TempDir()}, nil, &out, &progress)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out.String(), progress.String())
	}
	for _, row := range []string{
		"until another node acknowledges a lead, 1 times: p50", "until another node acknowledges a lead, 1 times: p99", "SIGSTOP of a cluster's leader",
		"after these takeovers | 0 of ", "failed requests | ", "longest wait of a lead", "p50 over a single node's", "p99 over a single node's", "p50 over the leader's", "p99 over the leader's",
		"leads/s over a single node's", "elections during these runs of a cluster",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the table lacks %q:\n%s", row, out.String())
		}
	}
}
