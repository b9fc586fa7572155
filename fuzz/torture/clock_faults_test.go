//go:build linux

package torture

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pingpost/fuzz/mutant"
	"pingpost/fuzz/witness"
)

// clockFaults are wrong clocks. Go reads the clock without a system call, and a time namespace has no offset
// for it. So the node runs another program, with the same source and a changed package time.
var clockFaults = []*fault{
	{name: "leader's clock 10 minutes ahead", weight: 1, missing: whyNoClock, inject: func(t *torture) bool { return t.leadWithClock("ahead") }},
	{name: "leader's clock 10 minutes behind", weight: 1, missing: whyNoClock, inject: func(t *torture) bool { return t.leadWithClock("behind") }},
	{name: "follower's clock 10 minutes ahead", weight: 1, missing: whyNoClock, inject: func(t *torture) bool { return t.followWithClock("ahead") }},
	{name: "follower's clock 10 minutes behind", weight: 1, missing: whyNoClock, inject: func(t *torture) bool { return t.followWithClock("behind") }},
}

// leastClockDifference is the difference of two clocks, in seconds, that a node must report. It is less than
// ten minutes, because real time passes meanwhile.
const leastClockDifference = 300

// whyNoClock returns the reason why clocks are not changed, or "".
func whyNoClock(t *torture) string {
	if t.span > 15*time.Minute {
		return "the run is longer than 15 minutes: with a wrong clock, the hour of a cap could end"
	}
	return whyTooShort(t)
}

// leadWithClock restarts a follower on a machine with a wrong clock, and makes it the leader. Another node then
// leads again.
func (t *torture) leadWithClock(difference string) bool {
	program := t.programWithClock(difference)
	if program == "" {
		return false
	}
	n := t.follower()
	t.restartWith(n, program)
	t.handOverTo(n.ID)
	t.sendFewLeads()
	if ahead := clockAhead(n); difference == "behind" && ahead < leastClockDifference {
		t.test.Errorf("node %s leads with a clock that is 10 minutes behind the log, and reports a difference of %d s", n.ID, ahead)
	}
	if t.random.IntN(2) == 0 {
		t.killAndAwaitOther(n)
		n.Start()
	} else {
		t.handOverTo("")
	}
	t.sendFewLeads()
	if leader := t.leader(); difference == "ahead" && leader != n && clockAhead(leader) < leastClockDifference {
		t.test.Errorf("node %s leads after a node whose clock is 10 minutes ahead, and reports a difference of %d s", leader.ID, clockAhead(leader))
	}
	t.correctClock(n)
	return true
}

// followWithClock restarts a follower on a machine with a wrong clock. In half of all cases, the leader is
// killed, and one of the followers takes over.
func (t *torture) followWithClock(difference string) bool {
	program := t.programWithClock(difference)
	if program == "" {
		return false
	}
	n := t.follower()
	t.restartWith(n, program)
	t.sendFewLeads()
	if leader := t.leader(); t.random.IntN(2) == 0 && leader != n {
		t.killAndAwaitOther(leader)
		t.sendFewLeads()
		leader.Start()
	}
	t.correctClock(n)
	return true
}

// correctClock restarts a node with the right clock. Receivers refused the webhooks that it signed before.
func (t *torture) correctClock(n *witness.ClusterNode) {
	t.restartWith(n, t.program)
	t.AcceptLateSignatures()
}

// restartWith restarts a node in order with another program.
func (t *torture) restartWith(n *witness.ClusterNode, program string) {
	n.Stop()
	n.Program = program
	n.Start()
	t.awaitMembersReachable()
}

// sendFewLeads sends leads, and waits until half of them are answered. A node may end meanwhile.
func (t *torture) sendFewLeads() {
	until := t.Suppliers.Answered() + fewLeads/2
	t.Suppliers.SendLeads(fewLeads)
	witness.Await(t.test, "suppliers are answered", func() bool { return t.Suppliers.Answered() >= until })
}

// handOverTo makes the node with the id the leader, or any other node for "".
func (t *torture) handOverTo(id string) {
	old := t.leader()
	witness.Await(t.test, "another node leads", func() bool {
		if leader := t.leader(); leader.ID == id || id == "" && leader != old {
			return true
		}
		if status, text := t.Cluster.HandOver(id); status >= 300 {
			t.test.Logf("the hand-over to %q was answered %d %s", id, status, text)
			time.Sleep(300 * time.Millisecond)
		}
		return false
	})
}

// clockAhead returns the metric of a node with the difference of its clock in seconds.
func clockAhead(n *witness.ClusterNode) int {
	seconds, err := strconv.ParseFloat(n.Metric("pingpost_clock_ahead_seconds"), 64)
	if err != nil {
		return 0
	}
	return int(seconds)
}

// clockPrograms are the programs with a wrong clock, which are built in the background.
type clockPrograms struct {
	built chan struct{}
	err   error // valid after built is closed
}

// programWithClock returns the path of the program that takes the machine's clock for ten minutes ahead or
// behind, or "" until it is built. The first call begins to build it: this compiles all packages.
func (t *torture) programWithClock(difference string) (path string) {
	if t.clocks == nil {
		t.clocks = &clockPrograms{built: make(chan struct{})}
		go func() {
			defer close(t.clocks.built)
			t.clocks.err = buildClockPrograms(t.test.Context(), t.dir)
		}()
	}
	select {
	case <-t.clocks.built:
		t.failOnError(t.clocks.err)
		return clockProgramPath(t.dir, difference)
	default:
		return ""
	}
}

func clockProgramPath(dir, difference string) string {
	return filepath.Join(dir, "pingpost-"+difference)
}

func buildClockPrograms(ctx context.Context, dir string) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	file, err := filepath.Rel(here, filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go"))
	if err != nil {
		return err
	}
	wrong := mutant.Mutation{
		Name: "a wrong clock", File: filepath.ToSlash(file),
		Old: "\nfunc Now() Time {\n\tsec, nsec, mono := runtimeNow()\n",
		New: "\nvar clockDifference string\n\nfunc Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tswitch clockDifference {\n" +
			"\tcase \"ahead\":\n\t\tsec += 600\n\tcase \"behind\":\n\t\tsec -= 600\n\t}\n",
	}
	for _, difference := range []string{"ahead", "behind"} {
		flags := []string{"-ldflags", "-X time.clockDifference=" + difference}
		if err := mutant.Build(ctx, ".", "pingpost/cmd/pingpost", clockProgramPath(dir, difference), flags, wrong); err != nil {
			return err
		}
	}
	return nil
}
