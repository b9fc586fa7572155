package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
)

// grace is how much longer than it should a target may take before it counts as
// hanging: it has to read its corpus, and to end.
const grace = 2 * time.Minute

// mostSaid is how much of a failed target's output is shown, in bytes.
const mostSaid = 6000

var (
	progress = regexp.MustCompile(`(?m)^fuzz: elapsed: .*\n?`)
	counts   = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)
)

// read makes a result of what a run has written and how it ended.
func (t *target) read(said string, ended, timeout error) {
	t.executions, t.interesting, t.result = "0", "0", "pass"
	if lines := counts.FindAllStringSubmatch(said, -1); lines != nil {
		last := lines[len(lines)-1]
		t.executions, t.interesting = last[1], last[2]
	}
	switch {
	case errors.Is(timeout, context.DeadlineExceeded):
		t.failed, t.result = true, "HANGS"
	case timeout != nil:
		t.failed, t.result = true, "interrupted"
	case ended != nil:
		t.failed, t.result = true, "FAIL"
	case t.executions == "0":
		t.failed, t.result = true, "NOTHING RUN"
	}
	if t.failed {
		t.said = strings.TrimSpace(progress.ReplaceAllString(said, ""))
		t.said = t.said[max(0, len(t.said)-mostSaid):]
	}
}
