package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
)

// graceTime is the additional time before a target counts as hanging. It needs it to read its
// corpus and to end.
const graceTime = 2 * time.Minute

// maxOutput is the number of bytes of a failed target's output that is shown.
const maxOutput = 6000

var (
	progress = regexp.MustCompile(`(?m)^fuzz: elapsed: .*\n?`)
	counts   = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)
)

// setResult derives the result from the run's output and end.
func (t *target) setResult(output string, exitErr, timeoutErr error) {
	t.executions, t.interesting, t.result = "0", "0", "pass"
	if lines := counts.FindAllStringSubmatch(output, -1); lines != nil {
		last := lines[len(lines)-1]
		t.executions, t.interesting = last[1], last[2]
	}
	switch {
	case errors.Is(timeoutErr, context.DeadlineExceeded):
		t.failed, t.result = true, "HANGS"
	case timeoutErr != nil:
		t.failed, t.result = true, "interrupted"
	case exitErr != nil:
		t.failed, t.result = true, "FAIL"
	case t.executions == "0":
		t.failed, t.result = true, "NOTHING RUN"
	}
	if t.failed {
		t.output = strings.TrimSpace(progress.ReplaceAllString(output, ""))
		t.output = t.output[max(0, len(t.output)-maxOutput):]
	}
}
