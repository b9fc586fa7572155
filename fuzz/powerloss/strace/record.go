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

// longest is how many bytes of a string are written down; a longer one is an
// error when it is read.
const longest = 8 << 20

// traced are the calls that change files, make them durable, or speak to others.
// Those that only read are left out: a program's answers do not hang on when it
// read its own files.
const traced = "open,openat,creat,close,dup,dup2,dup3,lseek," +
	"write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,sendto,sendmsg," +
	"truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,sync,syncfs,msync," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir"

// Here tells why nothing can be recorded here; nil where it can.
func Here() error {
	path, err := exec.LookPath("strace")
	if err != nil {
		return errors.New("strace is not installed; it records what the exchange asks of the disk")
	}
	if said, err := exec.CommandContext(context.Background(), path, "-f", "--seccomp-bpf", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		return fmt.Errorf("strace cannot trace here: %w: %s", err, said)
	}
	return nil
}

// Command is a program that is recorded into the file out. Its ends are the
// program's; the record is whole when it has ended.
func Command(ctx context.Context, out, program string, args ...string) *exec.Cmd {
	all := append(make([]string, 0, 16+len(args)),
		"-f", "--seccomp-bpf", "-y", "-xx", "-s", strconv.Itoa(longest), "-e", "signal=none", "-e", "trace="+traced, "-o", out, program)
	return exec.CommandContext(ctx, "strace", append(all, args...)...)
}

// Traced is the process that a running Command records: a signal is for that one. It
// waits for it: strace first tries on children of its own what it can, and what it
// has forked is not the program before that has been executed.
func Traced(command *exec.Cmd) (*os.Process, error) {
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
	return nil, fmt.Errorf("strace records no process: %w", err)
}
