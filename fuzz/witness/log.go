//go:build unix

package witness

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Run runs one of the program's commands to its end.
func (x *Exchange) Run(args ...string) string {
	x.t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.Command(x.program, args...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		x.t.Errorf("pingpost %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	}
	return out.String()
}

// Dump is the log as text.
func (x *Exchange) Dump() string { return x.Run("log", "dump", x.Data()) }

// Verify has every byte of the log, and of the snapshots, checked.
func (x *Exchange) Verify() {
	x.t.Helper()
	if report := x.Run("log", "verify", x.Data()); !strings.HasSuffix(report, "good\n") {
		x.t.Errorf("the log is not good:\n%s", report)
	}
}

// Replays sees that a replay of the log up to a position comes to the hash that
// the live exchange had there.
func (x *Exchange) Replays(live Position) {
	x.t.Helper()
	var replayed Position
	text := x.Run("log", "hash", x.Data(), "--at", strconv.FormatUint(live.Seq, 10))
	if err := json.Unmarshal([]byte(text), &replayed); err != nil || replayed != live {
		x.t.Errorf("the live state is %+v; replayed, the log says %s", live, text)
	}
}

// grew sees that a log only ever gets longer.
func grew(before, now []string) bool {
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}
