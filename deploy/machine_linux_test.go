package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// wantTrial is the expected output of testdata/trial.sh.
const wantTrial = `start: 0
healthy after the start: 0
sells: 201
CapEff: 0000000000000000
CapBnd: 0000000000000000
NoNewPrivs: 1
Seccomp: 2
user: pingpost
root: ro
data: pingpost 700
reload: 0
reload of a mistake: 1
healthy after a mistake: 0
sells after a mistake: 201
restart: 0
healthy after the restart: 0
healthy after a kill: 0
sells after a kill: 201
stop: 0
result: success, 0
backed up: 3
`

// TestServiceUnderSystemd starts, reloads, restarts and stops the unchanged unit, with all its
// restrictions, by a real systemd in its own namespaces.
func TestServiceUnderSystemd(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run another systemd")
	}
	requireTool(t, "systemctl", "systemd")
	folder := t.TempDir()
	config := fmt.Sprintf(serviceConfig, "127.0.0.1:8080", "127.0.0.1:9090")
	for name, text := range map[string]string{
		"exchange.yaml": config, "said": "", "trial.sh": readFile(t, "testdata/trial.sh"),
		"env": "KEY=" + apiKey + "\nSERVE_FLAGS=\"--backup-to /mnt/backup --backup-unencrypted\"\n",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	must.Succeed(t, os.Mkdir(filepath.Join(folder, "over"), 0o700))
	var errs strings.Builder
	machine := exec.Command("sh", "testdata/machine.sh", folder, filepath.Join(buildStage(t), "image", "pingpost"), unitFile)
	machine.Stderr = &errs
	must.Succeed(t, machine.Start())
	t.Cleanup(func() {
		_ = machine.Process.Kill()
		removeGroups(t, filepath.Join(folder, "groups"))
	})
	ended := make(chan error, 1)
	go func() { ended <- machine.Wait() }()
	output := waitForTrial(t, filepath.Join(folder, "said"), ended, &errs)
	var got strings.Builder
	for line := range strings.Lines(output) {
		if step, _, found := strings.Cut(line, ": "); found && strings.Contains(wantTrial, step+": ") {
			got.WriteString(line)
		}
	}
	if got.String() != wantTrial {
		t.Errorf("the trial printed\n%s\nwant\n%s\nwhole output:\n%s", got.String(), wantTrial, output)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Value(os.ReadFile(path))(t))
}

// waitForTrial waits until the trial is over, and returns its output.
func waitForTrial(t *testing.T, path string, ended chan error, errs fmt.Stringer) string {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		output := readFile(t, path)
		if strings.Contains(output, "the trial is over\n") {
			return output
		}
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && (exit.ExitCode() == 77 || strings.Contains(errs.String(), "unshare:")) {
				t.Skipf("this machine does not permit another systemd: %s", errs.String())
			}
			t.Fatalf("systemd has ended: %v, %s\n%s", err, errs.String(), output)
		default:
		}
	}
	t.Fatalf("the trial is not over:\n%s\n%s", readFile(t, path), errs.String())
	return ""
}

// removeGroups removes the trial's control groups, innermost first, after the last of its
// processes has ended.
func removeGroups(t *testing.T, list string) {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		return // no control group was created
	}
	for top := range strings.FieldsSeq(string(text)) {
		if !strings.Contains(filepath.Base(top), "pingpost-trial-") {
			t.Fatalf("%q is no control group of this test", top)
		}
		var left error
		for range 600 {
			var groups []string
			left = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.IsDir() {
					groups = append(groups, path)
				}
				return err
			})
			for _, group := range slices.Backward(groups) {
				left = errors.Join(left, os.Remove(group))
			}
			if left == nil || errors.Is(left, fs.ErrNotExist) {
				left = nil
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if left != nil {
			t.Errorf("a control group is left: %v", left)
		}
	}
}
