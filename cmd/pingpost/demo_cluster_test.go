//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
)

// clusterDemo returns the command of make demo-cluster with this program, and its new folder.
func clusterDemo(t *testing.T, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: make test-long runs the cluster of make demo-cluster")
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the script needs %s: %v", tool, err)
		}
	}
	dir = t.TempDir()
	program := filepath.Join(dir, "pingpost")
	script := "#!/bin/sh\nexec env " + asProgram + "=1 '" + must.Value(os.Executable())(t) + "' \"$@\"\n"
	must.Succeed(t, os.WriteFile(program, []byte(script), 0o700))
	dir = filepath.Join(dir, "cluster")
	cmd = exec.Command("bash", append([]string{"../../examples/cluster/run.sh"}, args...)...)
	cmd.Env = append(os.Environ(), "PINGPOST="+program, "DIR="+dir, "PORT="+strconv.Itoa(freePorts(t, 10)))
	cmd.WaitDelay = 10 * time.Second
	return cmd, dir
}

// freePorts returns the first of free ports of 127.0.0.1, below those that the system assigns by itself.
func freePorts(t *testing.T, count int) (first int) {
	t.Helper()
	for range 100 {
		first = 10_000 + rand.IntN(10_000)
		free := true
		for port := first; port < first+count && free; port++ {
			listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
			if free = err == nil; free {
				listener.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}

// clusterLogs returns the ends of the logs in the folder of a cluster.
func clusterLogs(dir string) (all string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		all += fmt.Sprintf("\n%s ends with\n%s", filepath.Base(name), text[max(0, len(text)-3000):])
	}
	return all
}

// requireEnded checks that no node of the cluster runs.
func requireEnded(t *testing.T, dir string) {
	t.Helper()
	for _, node := range []string{"a", "b", "c"} {
		text := must.Value(os.ReadFile(filepath.Join(dir, node+".pid")))(t)
		pid := must.Value(strconv.Atoi(strings.TrimSpace(string(text))))(t)
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("node %s still runs", node)
		}
	}
}

// TestClusterDemoOnce: the buyer counts each sold lead once, although the leader is killed while leads
// arrive.
func TestClusterDemoOnce(t *testing.T) {
	t.Parallel()
	cmd, dir := clusterDemo(t, "--once")
	output, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte("\nsold 300 of 300 leads; the buyer counted 300, and 0 sold twice\n")) {
		t.Errorf("%v\n%s%s", err, output, clusterLogs(dir))
	}
	requireEnded(t, dir)
}

// TestClusterDemoInterrupted: Ctrl-C ends all processes.
func TestClusterDemoInterrupted(t *testing.T) {
	t.Parallel()
	cmd, dir := clusterDemo(t)
	output := must.Value(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), " sold in all") {
			break
		}
	}
	must.Succeed(t, cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v%s", err, clusterLogs(dir))
	}
	requireEnded(t, dir)
}
