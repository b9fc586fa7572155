package main

import (
	"fmt"
	"os"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/loadtest/load"
	"pingpost/loadtest/trial"
)

// loadProgress shows how a load test goes: one line that changes, or on what is no
// terminal a line every five seconds.
type loadProgress struct {
	*terminal.Progress
	file  *os.File
	every time.Duration
	told  time.Duration
}

const plainEvery = 5 * time.Second

func newLoadProgress(file *os.File) *loadProgress {
	p := &loadProgress{Progress: terminal.NewProgress(file), file: file}
	if !p.HasTerminal() {
		p.every = plainEvery
	}
	return p
}

// show shows the state of the load test.
func (p *loadProgress) show(now trial.Progress) {
	text := progressText(&now)
	if p.HasTerminal() {
		p.Progress.Show(text)
		return
	}
	if now.After-p.told >= p.every {
		p.told = now.After
		fmt.Fprintln(p.file, text)
	}
}

func progressText(now *trial.Progress) string {
	text := fmt.Sprintf("%3.0f/%.0f s %s  %.0f/s  in flight %d  p50 %s  p99 %s  errors %d",
		now.After.Seconds(), now.Of.Seconds(), now.Phase, now.Rate, now.UnderWay, load.FormatDuration(now.P50), load.FormatDuration(now.P99), now.Errors)
	if now.Refused > 0 {
		text += fmt.Sprintf("  refused %d", now.Refused)
	}
	return text
}
