package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/trial"
)

// startDemoProcess starts a demonstration in a new folder.
func startDemoProcess(t *testing.T, args ...string) (demo *testProcess, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "demo")
	return startProgram(t, append([]string{"demo", "--dir", dir}, args...)...), dir
}

func TestDemoOnce(t *testing.T) {
	t.Parallel()
	// A busy machine keeps up with this rate, so that the limits of the load test hold.
	demo, _ := startDemoProcess(t, "--once", "--leads", "400", "--rate", "80")
	if code := demo.waitForExit(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, demo.output())
	}
	wantTexts := []string{
		"\n  cmp_auto ", "\n  cmp_solar", "\n  cmp_life ", "\n  cmp_bids ", "440 of 440 arrivals", "by ingest, ", "by ping and post, ",
		"440 of 440 expected webhooks received", "mismatches: 0", "by their own count: 0", "insufficient_funds", "p99",
	}
	for _, b := range demoBuyers {
		wantTexts = append(wantTexts, "\n  "+b.ID+" ")
	}
	for _, want := range wantTexts {
		if !strings.Contains(demo.output(), want) {
			t.Errorf("no %q in\n%s", want, demo.output())
		}
	}
}

// TestDemoKeepsRunning: after the figures the demonstration serves until Ctrl-C. The
// printed request for the sandbox works.
func TestDemoKeepsRunning(t *testing.T) {
	t.Parallel()
	demo, dir := startDemoProcess(t, "--leads", "50", "--rate", "500")
	found := demo.waitForOutput(`(?s)curl -s (\S+/v1/dev/seed) -H 'Authorization: (Bearer [^']+)' \\\s+-H 'Content-Type: application/json' -d '(\{.*?\})'.*\nCtrl-C`)
	status, answer := request(t, http.MethodPost, found[1], found[3], "Authorization", found[2])
	if sold := strings.Count(answer, `"buyer_id":"bid_fixed"`); status != http.StatusCreated || sold < 50 {
		t.Errorf("%d, %d sold: %.300s", status, sold, answer)
	}
	demo.sendSignal(syscall.SIGINT)
	if code := demo.waitForExit(); code != 0 {
		t.Errorf("exit %d: %s", code, demo.output())
	}
	if _, _, err := tryRequest(http.MethodPost, found[1], found[3]); err == nil {
		t.Error("the sandbox still listens")
	}
	log, err := os.ReadFile(filepath.Join(dir, "exchange.log"))
	if err != nil || strings.Count(string(log), `"clean":true`) != 2 {
		t.Errorf("the tenants did not stop cleanly (%v):\n%s", err, log)
	}
}

// TestDemoInterrupted: Ctrl-C before the results, while the servers start or while leads are sent, ends
// the demonstration with an error that says so.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"start", "sending"} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			demo, _ := startDemoProcess(t, "--leads", "1000", "--rate", "10")
			buyer := demo.waitForOutput(`buy_swift +(http://\S+)`)[1]
			for during == "sending" && strings.Contains(get(t, buyer+"/stats"), `"accepted":0,`) {
				time.Sleep(10 * time.Millisecond)
			}
			demo.sendSignal(syscall.SIGINT)
			if code := demo.waitForExit(); code != 1 || !strings.HasSuffix(demo.output(), "pingpost: demo: interrupted before the results\n") {
				t.Errorf("exit %d: %s", code, demo.output())
			}
		})
	}
}

// TestDemoComparesRevenue: a buyer with another count fails the demonstration.
func TestDemoComparesRevenue(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"buyer_id", "revenue"}, {"a", "12.5"}, {"b", "7"}, {"recorded", "3"}}
	account := &trial.Account{Buyers: []trial.BuyerAccount{{ID: "a", Owes: 12_500_000}, {ID: "b", Owes: 7_000_000}, {ID: "idle"}}}
	if l := compareRevenueWithBuyersOwnCounts(rows, account); !l.Held {
		t.Errorf("%+v", l)
	}
	account.Buyers[1].Owes++
	if l := compareRevenueWithBuyersOwnCounts(rows, account); l.Held || l.Got != "b (7, by its own count 7.000001)" {
		t.Errorf("%+v", l)
	}
}

func TestDemoFolder(t *testing.T) {
	existing := t.TempDir()
	if _, err := (&demoCmd{Dir: existing}).createDemoFolder(); err == nil || !strings.Contains(err.Error(), "does not exist yet") {
		t.Errorf("existing folder: %v", err)
	}
	t.Chdir(existing)
	if dir, err := (&demoCmd{}).createDemoFolder(); err != nil || !strings.HasPrefix(dir, filepath.Join(existing, "data", "demo-")) {
		t.Errorf("%s, %v", dir, err)
	}
	must.Succeed(t, errors.Join(os.RemoveAll("data"), os.WriteFile("data", nil, 0o600)))
	t.Setenv("TMPDIR", t.TempDir())
	if dir, err := (&demoCmd{}).createDemoFolder(); err != nil || !strings.HasPrefix(dir, os.TempDir()) {
		t.Errorf("data is a file: %s, %v", dir, err)
	}
}

func TestDemoRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []demoCmd{{Leads: 0, Rate: 1}, {Leads: 2_000_000, Rate: 1}, {Leads: 1, Rate: 0}, {Leads: 1, Rate: maxDemoRate + 1}} {
		if err := c.Run(); err == nil || !strings.Contains(err.Error(), "--leads") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
