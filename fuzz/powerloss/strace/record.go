package strace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// maxStringBytes is the number of recorded bytes of a string. A longer string is an error when
// it is read.
const maxStringBytes = 8 << 20

// tracedCalls are the calls that change files, make them durable or send data. Reading calls
// are left out: the exchange's outputs do not depend on the time of its reads.
const tracedCalls = "open,openat,creat,close,dup,dup2,dup3,lseek," +
	"write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,sendto,sendmsg," +
	"truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,sync,syncfs,msync," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir"

// CheckAvailable returns an error if this machine cannot record.
func CheckAvailable() error {
	path, err := exec.LookPath("strace")
	if err != nil {
		return errors.New("strace is not installed; it records the exchange's system calls")
	}
	if said, err := exec.CommandContext(context.Background(), path, "-f", "--seccomp-bpf", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		return fmt.Errorf("strace cannot trace on this machine: %w: %s", err, said)
	}
	return nil
}

// Command returns a command that records the program into the file out. It ends like the
// program; the record is complete when it has ended.
func Command(ctx context.Context, out, program string, args ...string) *exec.Cmd {
	all := append(make([]string, 0, 16+len(args)),
		"-f", "--seccomp-bpf", "-y", "-xx", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns", "-s", strconv.Itoa(maxStringBytes), "-e", "signal=none", "-e", "trace="+tracedCalls, "-o", out, program)
	return exec.CommandContext(ctx, "strace", append(all, args...)...)
}

// TracedProcess returns the process that a running Command records, to send signals to. It
// waits for that process: strace first starts its own test children, and its child is not
// the program before the exec.
func TracedProcess(command *exec.Cmd) (*os.Process, error) {
	id := strconv.Itoa(command.Process.Pid)
	self, err := os.Readlink("/proc/" + id + "/exe")
	for ; err == nil; time.Sleep(time.Millisecond) {
		var text []byte
		if text, err = os.ReadFile("/proc/" + id + "/task/" + id + "/children"); err != nil {
			break
		}
		for child := range strings.FieldsSeq(string(text)) {
			program, gone := os.Readlink("/proc/" + child + "/exe")
			if pid, wrong := strconv.Atoi(child); gone == nil && wrong == nil && program != self {
				return os.FindProcess(pid)
			}
		}
	}
	return nil, fmt.Errorf("strace has no traced process: %w", err)
}
