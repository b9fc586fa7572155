package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

// runScenario runs a load test and reads the result that it wrote.
func runScenario(t *testing.T, args ...string) (commandResult, *trial.Result) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	s := run(t, append([]string{"loadtest", "--json", path}, args...)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	r := new(trial.Result)
	must.Succeed(t, json.Unmarshal(text, r))
	return s, r
}

// TestBuiltInScenarios runs each scenario for two seconds at a low rate. It checks the
// account of all leads. Latency limits may fail, because they depend on the machine.
func TestBuiltInScenarios(t *testing.T) {
	for _, name := range scenario.Names() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "catalog-large" {
				t.Skip("long: make test-long starts an exchange with ten thousand campaigns")
			}
			t.Parallel()
			s, r := runScenario(t, name, "--duration", "2s", "--rate", "20")
			for _, mismatch := range r.Account.Mismatches {
				t.Errorf("%s: %s", name, mismatch)
			}
			if r.Ends["sold"] == 0 || r.Sent != r.Offered || r.Ends["failed"]+r.Ends["broken"] > 0 || len(r.Stages) == 0 {
				t.Errorf("%d of %d sent, %v", r.Sent, r.Offered, r.Ends)
			}
			if webhooks := r.Account.Webhooks; webhooks != nil && (webhooks.Received < r.Account.Sold || webhooks.Received != webhooks.Expected) {
				t.Errorf("webhooks: %+v", webhooks)
			}
			if s.code != 0 && (s.code != 1 || !strings.Contains(s.err, "not held: ")) {
				t.Errorf("exit %d: %s", s.code, s.err)
			}
			if !strings.HasPrefix(s.out, name+": ") || !strings.Contains(s.out, " p99.9 ") {
				t.Errorf("printed %s", s.out)
			}
		})
	}
}

// unreachableLimit is a scenario with a limit that every machine exceeds.
const unreachableLimit = `name: impossible
about: a limit of a nanosecond
kinds: {ingest: 1}
phases: [{name: steady, for: 500ms, rate: 40}]
campaigns: [{method: waterfall}]
buyers: [{bid: "2.5", latency: 1ms}]
limits: {latency: {ingest: {p99: 1ns}}, late: 10s}
`

// TestLoadtestReportsExceededLimit: the program fails, names the limit, writes its report
// and leaves no temporary files.
func TestLoadtestReportsExceededLimit(t *testing.T) {
	tempDir := t.TempDir()
	t.Setenv("TMPDIR", tempDir)
	path := filepath.Join(t.TempDir(), "impossible.yaml")
	writeFile(t, path, unreachableLimit)
	reportPath := filepath.Join(t.TempDir(), "report.html")
	result, r := runScenario(t, path, "--html", reportPath)
	if result.code != 1 || strings.Count(result.err, "not held: ") != 1 || !strings.Contains(result.err, "not held: p99 of ingest: ") || strings.Contains(result.err, "--help") {
		t.Errorf("exit %d: %s", result.code, result.err)
	}
	if !strings.Contains(result.out, "NOT HELD  p99 of ingest") || !strings.Contains(result.out, "held      errors: 0, 0 %") {
		t.Errorf("printed %s", result.out)
	}
	if b := r.Account.Buyers; len(b) != 1 || b[0].Taken != b[0].Sold || b[0].Money != b[0].Owes || int64(b[0].Owes) != int64(b[0].Taken)*2_500_000 {
		t.Errorf("account: %+v", r.Account)
	}
	if text, err := os.ReadFile(reportPath); err != nil || !strings.Contains(string(text), "1 of 7 limits not held") {
		t.Errorf("the report lacks the exceeded limit: %v", err)
	}
	if left, err := os.ReadDir(tempDir); err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
}

// TestLoadtestOfRunningExchange tests an exchange that runs already, with and without its
// admin API.
func TestLoadtestOfRunningExchange(t *testing.T) {
	t.Setenv(asProgram, "1")
	s := must.Value(scenario.Load("webhook-storm"))(t)
	exchange, err := startTemporaryExchange(t.Context(), s, 1)
	t.Cleanup(func() { exchange.stopAndRemoveFolder() })
	must.Succeed(t, err)
	targetArgs := []string{
		"ingest", "--duration", "1s", "--rate", "30", "--target", "http://" + exchange.target.Addr, "--supplier", loadSupplier,
		"--campaign", exchange.target.Campaigns[0], "--api-key", exchange.target.APIKey,
	}
	_, r := runScenario(t, targetArgs...)
	if r.Account.Sold == 0 || len(r.Account.Mismatches) > 0 || r.Account.NotAsked != r.Account.Sold || len(r.Account.Unchecked) != 1 || len(r.Stages) > 0 {
		t.Errorf("account: %+v", r.Account)
	}
	_, r = runScenario(t, append(targetArgs, "--admin", exchange.target.Admin)...)
	if r.Account.Sold == 0 || len(r.Account.Mismatches) > 0 || len(r.Account.Unchecked) > 0 || len(r.Stages) != 5 {
		t.Errorf("account: %+v", r.Account)
	}
}

func TestLoadtestRejectsInvalidFlags(t *testing.T) {
	for _, test := range []struct{ args, wantError string }{
		{"", "name a scenario"},
		{"unheard-of", "there is no built-in scenario and no file unheard-of; built-in scenarios: burst, catalog-large, ingest"},
		{"ingest --rate=-3", "--rate -3"},
		{"ingest --duration 48h", "--duration 48h"},
		{"ingest --buyers 900", "--buyers 900"},
		{"ingest --rate 0", "--rate 0: give a number above zero"},
		{"ingest --rate NaN", "--rate NaN: give a number above zero"},
		{"ingest --duration 0s", "--duration 0s: give a time above zero"},
		{"ingest --buyers 0", "--buyers 0: give a number from 1"},
		{"ingest --html /nowhere/at/all/x.html", "--html /nowhere/at/all/x.html: cannot create this file, because its folder was not found"},
		{"ingest --json /", "--json / is a folder"},
		{"ingest --target http://127.0.0.1:1 --api-key k --supplier s --campaign c", "cannot connect"},
		{"--print nothing", "no built-in scenario nothing"},
		{"ingest --target https://127.0.0.1:1", "plain HTTP"},
		{"ingest --target http://192.0.2.1:8080", "--yes-remote"},
		{"ingest --target http://example.com", "--yes-remote"},
		{"ingest --target http://127.0.0.1:1", "--api-key: ingests need one\n--supplier: ingests name it\n--campaign: ingests are for one"},
		{"pingpost --target http://localhost:1", "--client-id: pings need a token\n--client-secret: pings need a token\n--vertical: pings name one"},
		{"pingpost --target http://192.0.2.1:8080 --yes-remote ours", "--client-id"},
	} {
		mustFail(t, test.wantError, append([]string{"loadtest"}, strings.Fields(test.args)...)...)
	}
}

func TestScenariosAreListedAndPrinted(t *testing.T) {
	list := mustRun(t, "loadtest", "--list")
	for _, name := range scenario.Names() {
		if !strings.Contains(list, "\n"+name+" ") && !strings.HasPrefix(list, name+" ") {
			t.Errorf("%s is not listed", name)
		}
		printed := mustRun(t, "loadtest", "--print", name)
		if s, err := scenario.Parse("printed.yaml", []byte(printed)); err != nil || s.Name != name {
			t.Errorf("the printed scenario %s is another: %v", name, err)
		}
	}
	if help := mustRun(t, "--help"); strings.Contains(help, "loadtest-buyers") || !strings.Contains(help, "loadtest") {
		t.Errorf("the help names loadtest-buyers, or lacks loadtest:\n%s", help)
	}
}

func TestProgressLines(t *testing.T) {
	now := trial.Progress{After: 5 * time.Second, Of: time.Minute, Phase: "steady", Rate: 99.6, UnderWay: 4, P50: 12 * time.Millisecond, P99: 31500 * time.Microsecond, Errors: 2}
	if got := formatLoadTestProgress(&now); got != "  5/60 s steady  100/s  in flight 4  p50 12ms  p99 31.5ms  errors 2" {
		t.Error(got)
	}
	file := must.Value(os.Create(filepath.Join(t.TempDir(), "progress")))(t)
	defer file.Close()
	p := newLoadTestProgress(file)
	for second := range 12 {
		now.After = time.Duration(second) * time.Second
		now.Refused = second
		p.showThrottled(now)
	}
	p.End()
	text := must.Value(os.ReadFile(file.Name()))(t)
	if lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], " 10/60 s") || !strings.HasSuffix(lines[1], "refused 10") || strings.Contains(string(text), "\x1b") {
		t.Errorf("progress lines %q, want two, the second at 10 s", lines)
	}
}
