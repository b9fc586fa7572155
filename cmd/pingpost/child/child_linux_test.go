package child

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// TestKilledProgramEndsItsChildren: the kernel asks a child to end when the program that started it
// is killed and cannot do so itself.
func TestKilledProgramEndsItsChildren(t *testing.T) {
	group := newGroup(t)
	ends := filepath.Join(group.Dir, "ends")
	must.Succeed(t, os.WriteFile(ends, nil, 0o600))
	parent := must.Value(group.StartThisProgram("parent", []string{exitOrder + "=" + ends}, "parent", group.Dir))(t)
	line := must.Value(parent.WaitForLine(t.Context(), "buyer "))(t)
	var id int
	must.Value(fmt.Sscanf(line, "buyer %d", &id))(t)
	buyer := must.Value(os.FindProcess(id))(t)
	t.Cleanup(func() { _ = buyer.Kill() })
	must.Succeed(t, parent.Signal(syscall.SIGKILL))
	servertest.WaitUntil(t, "the buyer of the killed program has ended", func() bool {
		return string(must.Value(os.ReadFile(ends))(t)) == "orphan\n"
	})
}
