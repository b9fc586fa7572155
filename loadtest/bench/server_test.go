package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
)

// built is the exchange, built once for all tests; TestMain removes it.
var built string

// small is a bench with real processes, and sizes that only show that it works.
func small(t *testing.T) *bench {
	t.Helper()
	b := unbuilt(t)
	if built == "" {
		var err error
		if built, err = b.build(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(built, builtPath); err != nil {
			t.Fatal(err)
		}
		built = builtPath
	}
	b.exchange = built
	return b
}

// unbuilt is a small bench that has no exchange yet.
func unbuilt(t *testing.T) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes, the exchange among them")
	}
	b, err := newBench(t.Context(), &flags{Quick: true, Dir: t.TempDir(), Noise: 1}, testWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	b.size.warmup, b.size.lasting, b.size.calibration, b.size.idle = 0, 800*time.Millisecond, 200*time.Millisecond, 0
	b.size.connections, b.size.growthConnections = []int{4}, 4
	b.size.campaigns, b.size.buyers, b.size.suppressed = 30, 20, 1000
	b.size.smallest, b.size.largest, b.size.leads, b.size.commitRate = 1000, 1200, 1000, 200
	b.size.auctionBuyers, b.size.openBuyers, b.size.postBuyers = []int{1, 2}, 2, 3
	b.size.openLasting, b.size.postsLasting = 200*time.Millisecond, 300*time.Millisecond
	b.size.paged, b.size.viewers = 2000, viewers{2, 50 * time.Millisecond}
	return b
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func TestServersAreMeasuredAndEnded(t *testing.T) {
	b := small(t)
	b.flags.Profile = filepath.Join(b.dir, "profile")
	b.size.lasting = 1100 * time.Millisecond // a profile takes whole seconds
	rows, err := b.ingest()
	if err != nil {
		t.Fatal(err)
	}
	b.size.lasting = 800 * time.Millisecond
	for _, measure := range []func(*bench) ([]row, error){(*bench).growth, (*bench).memory, (*bench).commit} {
		more, err := measure(b)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	var whats []string
	for _, r := range rows {
		whats = append(whats, r.what+": "+r.measured)
	}
	said := strings.Join(whats, "\n")
	for _, want := range []string{
		"durable ingest, 4 connections: req/s over the ceiling's: ", "durable ingest, 4 connections: p99 over the ceiling's: ",
		"30 campaigns instead of 10: p50: ", "20 buyers in one campaign instead of 4, round_robin: p50: ",
		"20 buyers in one campaign instead of 4, waterfall: p50: ", "for each buyer more: ",
		"1000 suppressed numbers instead of none: p50: ", "hot memory of an accepted lead", "idle process",
		"commit p99 while a snapshot of 1000 leads", "and a backup to the same disk goes on (",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if profile, err := os.Stat(b.flags.Profile); err != nil || profile.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

func TestAReportIsMeasuredWhileItIsLookedAt(t *testing.T) {
	b := small(t)
	b.size.openLasting = time.Second // an overview comes each
	var whats []string
	for _, measure := range []func(*bench) ([]row, error){(*bench).reported, (*bench).pages} {
		rows, err := measure(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			whats = append(whats, r.what)
		}
	}
	said := strings.Join(whats, "\n")
	for _, want := range []string{
		"ingest p99 while a report is kept, over", "ingest p99 while a report is kept and 2 viewers have the dashboard open, over",
		"data of a page of the dashboard from a report of 2000 leads of a month, the slowest of 12 pages",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	b := small(t)
	d := catalogOf(1)
	d.Campaigns[0].Method = "lottery"
	if s, err := b.startExchange("broken", d); err == nil {
		s.end()
		t.Fatal("a configuration with a mistake was served")
	} else if !strings.Contains(err.Error(), "method") {
		t.Errorf("not said what is wrong: %v", err)
	}
}

func TestAServerThatNeverServesIsGivenUp(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if p, err := startServer(cmd, nil, nil, 50*time.Millisecond); err == nil {
		p.end()
		t.Fatal("sleep serves")
	}
	if cmd.ProcessState == nil {
		t.Error("it was left behind")
	}
}

func TestAnswersThatAreNotGoodEndTheMeasurement(t *testing.T) {
	b := small(t)
	s, err := b.startExchange("refusing", catalogOf(2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	_, err = b.send(s.to([]string{"cmp_nobodys"}), 2, 0, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "status 422") {
		t.Errorf("leads for an unknown campaign: %v", err)
	}
}

func TestAnEmptyLogHasNoAverage(t *testing.T) {
	if _, err := averageEntry(t.TempDir(), event.KindLeadDecided); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
