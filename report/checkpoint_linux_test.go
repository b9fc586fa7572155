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

// countLocks counts this process's locks on a file.
func countLocks(t *testing.T, path string) (n int) {
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

// TestCheckpointKeepsSQLiteLocks: closing any descriptor of the file ends the process's locks. Then
// the next program that closes the file would remove SQLite's log.
func TestCheckpointKeepsSQLiteLocks(t *testing.T) {
	_, f := newFilledFile(t, 10)
	before := countLocks(t, f.path)
	if before == 0 {
		t.Fatal("SQLite holds no lock on its file")
	}
	f.mustCheckpoint(t)
	if after := countLocks(t, f.path); after != before {
		t.Errorf("%d locks before the checkpoint, %d after it", before, after)
	}
}

// lockFileVariable names the file in which a second process takes SQLite's checkpoint lock.
const lockFileVariable = "PINGPOST_TEST_HOLD_CHECKPOINTS"

func TestMain(m *testing.M) {
	if path := os.Getenv(lockFileVariable); path != "" {
		holdCheckpointLock(path)
		return
	}
	os.Exit(m.Run())
}

// holdCheckpointLock takes SQLite's checkpoint lock, prints "held", and keeps the lock until its
// input ends.
func holdCheckpointLock(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	const checkpointLockOffset = 121
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Start: checkpointLockOffset, Len: 1}); err != nil {
		panic(err)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestCheckpointWaitsForOtherProcess: a checkpoint of another program is not an error.
func TestCheckpointWaitsForOtherProcess(t *testing.T) {
	_, f := newFilledFile(t, 50)
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), lockFileVariable+"="+f.path+"-shm")
	in := must.Value(other.StdinPipe())(t)
	out := must.Value(other.StdoutPipe())(t)
	must.Succeed(t, other.Start())
	must.Value(io.ReadFull(out, make([]byte, len("held"))))(t)
	f.checkpointer.transactions = checkpointTransactions
	if err := f.checkpointIfDue(t.Context()); err != nil || f.checkpointer.transactions != checkpointTransactions {
		t.Errorf("%d transactions left during another program's checkpoint: %v", f.checkpointer.transactions, err)
	}
	must.Succeed(t, in.Close())
	must.Succeed(t, other.Wait())
	must.Succeed(t, f.checkpointIfDue(t.Context()))
	if got := countLeadsInCopy(t, f); got != 50 || f.checkpointer.transactions != 0 {
		t.Errorf("the file without its log has %d of 50 leads", got)
	}
}
