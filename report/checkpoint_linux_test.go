package report

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// locksOn counts the locks that this process has on a file.
func locksOn(t *testing.T, path string) (n int) {
	t.Helper()
	info := must.Value(os.Stat(path))(t)
	all := must.Value(os.ReadFile("/proc/locks"))(t)
	pid, inode := fmt.Sprintf(" %d ", os.Getpid()), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, pid) && strings.Contains(line, inode) {
			n++
		}
	}
	return n
}

// TestSettleKeepsSQLitesLocks: a descriptor of the file that is closed takes the process's
// locks with it, and the next program to close the file would remove SQLite's log.
func TestCheckpointKeepsSQLitesLocks(t *testing.T) {
	_, f := newFilledFile(t, 10)
	before := locksOn(t, f.path)
	if before == 0 {
		t.Fatal("SQLite holds no lock on its file")
	}
	f.settled(t)
	if after := locksOn(t, f.path); after != before {
		t.Errorf("%d locks on the file, and %d once it has settled", before, after)
	}
}

// holdCheckpoints is the file that a second process of these tests locks as a program does
// that checkpoints.
const holdCheckpoints = "PINGPOST_TEST_HOLD_CHECKPOINTS"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdCheckpoints); path != "" {
		hold(path)
		return
	}
	os.Exit(m.Run())
}

// hold takes SQLite's lock of who checkpoints, says so, and keeps it until its input ends.
func hold(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	const byOthers = 121
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Start: byOthers, Len: 1}); err != nil {
		panic(err)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestSettleWaitsForOthersCheckpoint: another program may be at it, and nothing is wrong.
func TestCheckpointWaitsForOthers(t *testing.T) {
	_, f := newFilledFile(t, 50)
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), holdCheckpoints+"="+f.path+"-shm")
	in := must.Value(other.StdinPipe())(t)
	out := must.Value(other.StdoutPipe())(t)
	must.Succeed(t, other.Start())
	must.Value(io.ReadFull(out, make([]byte, len("held"))))(t)
	f.checkpointer.transactions = checkpointTransactions
	if err := f.checkpointIfDue(t.Context()); err != nil || f.checkpointer.transactions != checkpointTransactions {
		t.Errorf("%d transactions wait while another program is at it: %v", f.checkpointer.transactions, err)
	}
	must.Succeed(t, in.Close())
	must.Succeed(t, other.Wait())
	must.Succeed(t, f.checkpointIfDue(t.Context()))
	if got := countLeadsInCopy(t, f); got != 50 || f.checkpointer.transactions != 0 {
		t.Errorf("the file alone has %d of 50 leads", got)
	}
}
