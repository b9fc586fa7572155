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
	commandBlock = regexp.MustCompile("(?s)<!-- runbook: ([a-z, ]+) -->\n+```sh\n(.*?)```\n")
	blockMark    = regexp.MustCompile(`<!-- runbook: `)
)

func runbookCommands(t testing.TB) map[string]string {
	t.Helper()
	text := must.Value(os.ReadFile(runbookPage))(t)
	blocks := map[string]string{}
	for _, found := range commandBlock.FindAllStringSubmatch(string(text), -1) {
		if blocks[found[1]] != "" {
			t.Errorf("two blocks are called %q", found[1])
		}
		blocks[found[1]] = found[2]
	}
	if marks := len(blockMark.FindAllString(string(text), -1)); marks != len(blocks) {
		t.Errorf("%d marks, but %d blocks of commands after a mark", marks, len(blocks))
	}
	return blocks
}

// failureScenario causes a failure of the runbook on a machine that serves and has sold a
// lead. It returns the check to run after the commands.
type failureScenario func(t *testing.T, m *machine) (after func(t *testing.T, output string))

var failureScenarios = map[string]failureScenario{
	"full disk":    prepareFullDisk,
	"failed disk":  prepareFailedDisk,
	"backup":       prepareNoBackup,
	"damaged log":  prepareDamagedLog,
	"accept loss":  prepareDamageWithoutBackup,
	"lost machine": prepareLostMachine,
	"restore":      prepareRestoreToTime,
	"rotated keys": prepareKeyRotation,
	"upgrade":      prepareUpgrade,
	"downgrade":    prepareDowngrade,

	"remove node":   prepareLostNode,
	"start node":    prepareNewMachine,
	"copy node":     prepareUnusableData,
	"add node":      prepareNewNode,
	"lost majority": prepareLostMajority,
	"new cluster":   prepareNewCluster,
	"end cluster":   prepareEndOfCluster,
	"upgrade node":  prepareNodeUpgrade,
}

func TestRunbook(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long: make test-long runs the commands of the runbook")
	}
	blocks := runbookCommands(t)
	for name, prepare := range failureScenarios {
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

// bash runs pasted commands. It ends the test if one of them fails.
func (m *machine) bash(commands string) (out string) {
	m.t.Helper()
	shell := exec.Command("bash", "-euo", "pipefail", "-c", m.localize(commands))
	shell.Env = m.env
	shell.Dir = m.dir
	text, err := shell.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v in\n%s\nwhich printed\n%s\nthe service says\n%s", err, m.localize(commands), text, m.journal())
	}
	return string(text)
}
