//go:build linux

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// runbookPage is the runbook. The test runs each block of commands that follows a mark
//
//	<!-- runbook: full disk -->
//
// with bash on a simulated machine. Folders and ports of the test replace the paths
// and addresses in the page, `pingpost` is this program, and `systemctl` starts, stops
// and reloads one process of it. Each scenario causes the failure before the commands
// and checks the result after them.
const runbookPage = "../../docs/runbook.md"

var (
	markOfBlock = regexp.MustCompile("(?s)<!-- runbook: ([a-z, ]+) -->\n+```sh\n(.*?)```\n")
	markAlone   = regexp.MustCompile(`<!-- runbook: `)
)

func runbook(t testing.TB) map[string]string {
	t.Helper()
	text := must.Value(os.ReadFile(runbookPage))(t)
	blocks := map[string]string{}
	for _, found := range markOfBlock.FindAllStringSubmatch(string(text), -1) {
		if blocks[found[1]] != "" {
			t.Errorf("two blocks are called %q", found[1])
		}
		blocks[found[1]] = found[2]
	}
	if marks := len(markAlone.FindAllString(string(text), -1)); marks != len(blocks) {
		t.Errorf("%d marks, and %d blocks of commands behind one", marks, len(blocks))
	}
	return blocks
}

// trouble is one of the runbook: prepare brings it about on a machine that
// serves and has sold a lead, and returns what must be so after the commands.
type trouble func(t *testing.T, m *machine) (after func(t *testing.T, said string))

var troubles = map[string]trouble{
	"full disk":    filledDisk,
	"failed disk":  failedDisk,
	"backup":       noBackup,
	"damaged log":  damagedLog,
	"accept loss":  damagedWithoutBackup,
	"lost machine": lostMachine,
	"restore":      regretted,
	"rotated keys": rotatedKeys,
	"upgrade":      upgrade,
	"downgrade":    downgrade,
}

func TestRunbook(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long runs the commands of the runbook")
	}
	blocks := runbook(t)
	for name, prepare := range troubles {
		commands := blocks[name]
		if commands == "" {
			t.Errorf("docs/runbook.md has no commands for %q", name)
			continue
		}
		delete(blocks, name)
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			m := newMachine(t)
			m.systemctl("start")
			m.sell("ACCEPTED")
			after := prepare(t, m)
			after(t, m.bash(commands))
		})
	}
	for name := range blocks {
		t.Errorf("no test runs the commands of docs/runbook.md for %q", name)
	}
}

// bash runs commands as an operator would paste them, and ends the test where one
// of them fails.
func (m *machine) bash(commands string) (out string) {
	m.t.Helper()
	shell := exec.Command("bash", "-euo", "pipefail", "-c", m.here(commands))
	shell.Env = m.env
	shell.Dir = m.dir
	text, err := shell.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v in\n%s\nwhich printed\n%s\nthe service says\n%s", err, m.here(commands), text, m.journal())
	}
	return string(text)
}
