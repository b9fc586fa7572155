package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/loadtest/load"
	"pingpost/loadtest/report"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

// loadtestCmd runs a load test by a scenario and reports whether the measured values stayed
// within the scenario's limits.
type loadtestCmd struct {
	Scenario string         `arg:"" optional:"" help:"A built-in scenario (see --list), or the path of a file."`
	List     bool           `help:"List the built-in scenarios."`
	Print    bool           `help:"Print the scenario's document, as a start for a scenario file."`
	Rate     *float64       `placeholder:"NUMBER" help:"Arrivals a second in the first phase that is measured; the others in proportion."`
	Duration *time.Duration `placeholder:"TIME" help:"How long the measured phases last, together."`
	Buyers   *int           `placeholder:"NUMBER" help:"How many buyers the scenario's first group has."`
	Seed     uint64         `placeholder:"NUMBER" help:"Seed of arrivals and leads; 1 by default, or the current time with --target."`
	JSON     string         `name:"json" type:"path" placeholder:"FILE" help:"Write all measurements to this file, as JSON."`
	HTML     string         `name:"html" type:"path" placeholder:"FILE" help:"Write a report with curves to this file. It loads nothing from elsewhere."`

	runningExchangeFlags
}

// Help returns the text that --help shows after the usage line.
func (*loadtestCmd) Help() string {
	return `The command sends requests at the scenario's rate, even if earlier ones are still
unanswered. Latency counts from the time when a request was due, so a pause of the
exchange shows in all requests that were due in that time.

  pingpost loadtest --list
  pingpost loadtest pingpost
  pingpost loadtest ingest --rate 5000 --duration 20s --html report.html
  pingpost loadtest --print burst > mine.yaml; pingpost loadtest mine.yaml

The exit code is 0 if every limit of the scenario was held, otherwise 1, and standard
error lists the exceeded limits. Every test has further limits: the buyers' own counts
show no lost lead and no lead sold twice, each refusal says when to send again, and
the client itself kept up with the rate.`
}

// Run runs the load test and prints its results.
func (c *loadtestCmd) Run(ctx context.Context) error {
	if c.List {
		return printScenarioList()
	}
	if c.Scenario == "" {
		return errors.New("name a scenario, or list them with --list")
	}
	if c.Print {
		return printScenario(c.Scenario)
	}
	s, err := c.loadScenarioAndApplyFlags()
	if err != nil {
		return err
	}
	if err := c.checkOutputPaths(); err != nil {
		return err
	}
	result, err := c.runScenario(ctx, s)
	if err != nil {
		return err
	}
	fmt.Print(report.Table(result))
	if err := c.writeReportFiles(result); err != nil {
		return err
	}
	if result.Held() {
		return nil
	}
	fmt.Fprint(os.Stderr, report.Missed(result))
	return terminal.ExitCodeError(1)
}

func printScenarioList() error {
	t := terminal.Table{}
	for _, name := range scenario.Names() {
		s, err := scenario.Load(name)
		if err != nil {
			return err
		}
		t.Row(name, s.Duration().String(), s.About)
	}
	fmt.Print(t.String())
	return nil
}

func printScenario(name string) error {
	text, ok := scenario.Text(name)
	if !ok {
		return fmt.Errorf("there is no built-in scenario %s; see --list", name)
	}
	fmt.Print(text)
	return nil
}

// loadScenarioAndApplyFlags loads the scenario and applies the flags that change it. It also
// chooses the seed if the flag is missing.
func (c *loadtestCmd) loadScenarioAndApplyFlags() (*scenario.Scenario, error) {
	s, err := scenario.Load(c.Scenario)
	if err != nil {
		return nil, err
	}
	if err := c.applyLoadFlags(s); err != nil {
		return nil, err
	}
	if c.Seed == 0 {
		c.Seed = 1
		if c.Target != "" {
			c.Seed = uint64(time.Now().UnixNano())
		}
	}
	return s, nil
}

// applyLoadFlags changes the scenario's rate, duration and number of buyers as the flags say.
func (c *loadtestCmd) applyLoadFlags(s *scenario.Scenario) error {
	if c.Rate != nil {
		if !(*c.Rate > 0 && *c.Rate <= 1e6) {
			return fmt.Errorf("--rate %v: give a number above zero, up to 1000000", *c.Rate)
		}
		s.SetRate(*c.Rate)
	}
	if c.Duration != nil {
		if *c.Duration <= 0 || *c.Duration > 24*time.Hour {
			return fmt.Errorf("--duration %v: give a time above zero, up to 24h", *c.Duration)
		}
		s.SetDuration(*c.Duration)
	}
	if c.Buyers != nil {
		if *c.Buyers < 1 || *c.Buyers > 500 {
			return fmt.Errorf("--buyers %d: give a number from 1 to 500", *c.Buyers)
		}
		s.SetBuyers(*c.Buyers)
	}
	return nil
}

// checkOutputPaths checks that the output files of --json and --html are in existing folders, and are
// not folders themselves. The command calls it before the test, so that no test runs in vain.
func (c *loadtestCmd) checkOutputPaths() error {
	for flag, path := range map[string]string{"--json": c.JSON, "--html": c.HTML} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("%s %s: cannot create this file, because its folder was not found: %w", flag, path, err)
		} else if !info.IsDir() {
			return fmt.Errorf("%s %s: cannot create this file, because %s is not a folder", flag, path, filepath.Dir(path))
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s %s is a folder; name a file", flag, path)
		}
	}
	return nil
}

// runScenario runs the scenario against the exchange of --target, or else against an exchange
// that it starts on this machine.
func (c *loadtestCmd) runScenario(ctx context.Context, s *scenario.Scenario) (result *trial.Result, err error) {
	var target *trial.Target
	if c.Target != "" {
		if target, err = c.checkFlagsAndProbeTarget(ctx, s); err != nil {
			return nil, err
		}
	} else {
		exchange, err := startTemporaryExchange(ctx, s, c.Seed)
		defer func() {
			if closing := exchange.stopAndRemoveFolder(); err == nil {
				err = closing
			}
		}()
		if err != nil {
			return nil, err
		}
		target = exchange.target
	}
	// One processor more for the one that sleeps until the next arrival.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	shown := newLoadTestProgress(os.Stderr)
	defer shown.End()
	return trial.Run(ctx, s, target, trial.Options{Seed: c.Seed, Progress: shown.showThrottled})
}

func (c *loadtestCmd) writeReportFiles(result *trial.Result) error {
	for path, encode := range map[string]func(*trial.Result) ([]byte, error){c.JSON: report.JSON, c.HTML: report.HTML} {
		if path == "" {
			continue
		}
		text, err := encode(result)
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadTestProgress prints the progress of a load test: on a terminal one changing line, otherwise
// a line every five seconds.
type loadTestProgress struct {
	*terminal.Progress
	file    *os.File
	printed time.Duration // time in the test of the last line without a terminal
}

const plainEvery = 5 * time.Second

func newLoadTestProgress(file *os.File) *loadTestProgress {
	return &loadTestProgress{Progress: terminal.NewProgress(file), file: file}
}

// showThrottled prints the current state of the load test. The test calls it often. It prints at most
// every tenth of a second on a terminal, and otherwise every five seconds.
func (p *loadTestProgress) showThrottled(latest trial.Progress) {
	text := formatLoadTestProgress(&latest)
	if p.HasTerminal() {
		p.Progress.ShowThrottled(text)
		return
	}
	if latest.After-p.printed >= plainEvery {
		p.printed = latest.After
		fmt.Fprintln(p.file, text)
	}
}

func formatLoadTestProgress(latest *trial.Progress) string {
	text := fmt.Sprintf("%3.0f/%.0f s %s  %.0f/s  in flight %d  p50 %s  p99 %s  errors %d",
		latest.After.Seconds(), latest.Of.Seconds(), latest.Phase, latest.Rate, latest.UnderWay, load.FormatDuration(latest.P50), load.FormatDuration(latest.P99), latest.Errors)
	if latest.Refused > 0 {
		text += fmt.Sprintf("  refused %d", latest.Refused)
	}
	return text
}
