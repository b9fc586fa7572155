package exchange

import (
	"os"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// mount mounts a small file system at dir with the option: "ro", or a size such as "size=100m".
func mount(t testing.TB, dir, option string) {
	t.Helper()
	must.Succeed(t, os.MkdirAll(dir, 0o700))
	var flags uintptr
	if option == "ro" {
		flags, option = syscall.MS_RDONLY, ""
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, option); err != nil {
		t.Skipf("this needs a file system of its own, and mounting one is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("cannot unmount %s: %v", dir, err)
		}
	})
}
