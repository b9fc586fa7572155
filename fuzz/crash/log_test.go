//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// run runs one of the program's commands to its end.
func (x *exchange) run(args ...string) string {
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

func (x *exchange) dump() string { return x.run("log", "dump", x.data()) }

// verify has every byte of the log, and of the snapshots, checked.
func (x *exchange) verify() {
	x.t.Helper()
	if report := x.run("log", "verify", x.data()); !strings.HasSuffix(report, "good\n") {
		x.t.Errorf("the log is not good:\n%s", report)
	}
}

// replays sees that a replay of the log up to a position comes to the hash that
// the live exchange had there.
func (x *exchange) replays(live position) {
	x.t.Helper()
	var replayed position
	text := x.run("log", "hash", x.data(), "--at", strconv.FormatUint(live.Seq, 10))
	if err := json.Unmarshal([]byte(text), &replayed); err != nil || replayed != live {
		x.t.Errorf("the live state is %+v; replayed, the log says %s", live, text)
	}
}

// grew sees that a log only ever gets longer.
func grew(before, now []string) bool {
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}
