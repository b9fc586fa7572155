//go:build linux

package torture

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/fuzz/witness"
)

// clusterDiskFaults are the faults of a node's disk.
var clusterDiskFaults = []*fault{
	{name: "leader's disk stalls", weight: 2, missing: whyNoTrace, inject: func(t *torture) bool {
		return t.stallDisk(t.leader())
	}},
	{name: "EIO from a write of the leader's Raft log", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.failRaftLog("write") }},
	{name: "EIO from an fsync of the leader's Raft log", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.failRaftLog("fsync") }},
	{name: "EIO from a write of the leader's log", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool {
		t.followLeaderNow()
		return t.injectError("write", "EIO")
	}},
	{name: "leader's disk nearly full", weight: 1, missing: whyNoMount, inject: (*torture).fillLeadersDisk},
	{name: "leader's disk full", weight: 1, missing: whyNoMount, inject: (*torture).exhaustLeadersDisk},
}

// fillLeadersDisk leaves so little space on the leader's disk that it refuses leads. It must make another node
// the leader, and accept leads again with more space.
func (t *torture) fillLeadersDisk() bool {
	d, n := t.leadFromSmallDisk()
	d.fillUntilLeft(t.DataDir(), 32<<20)
	witness.Await(t.test, "another node leads", func() bool { return t.leader() != n })
	witness.Await(t.test, "another node accepts leads", func() bool { return t.Suppliers.SendLeadOnce(t.random) == http.StatusCreated })
	d.removeFiller()
	d.restoreDataDir()
	return true
}

// exhaustLeadersDisk leaves no space on the leader's disk. It makes another node the leader, or ends. The others
// go on.
func (t *torture) exhaustLeadersDisk() bool {
	d, n := t.leadFromSmallDisk()
	d.fillUntilLeft(t.DataDir(), 0)
	witness.Await(t.test, "another node leads", func() bool {
		if n.ExitReport() == "" {
			t.Suppliers.SendLeadOnce(t.random)
		}
		return t.leader() != n
	})
	t.sendFewLeads()
	t.expectFailure("full disk")
	d.removeFiller()
	t.Start()
	d.restoreDataDir()
	return true
}

// leadFromSmallDisk moves the data of the leader to a small file system, and makes the node the leader again.
// The methods of Exchange act on it.
func (t *torture) leadFromSmallDisk() (*smallDisk, *witness.ClusterNode) {
	t.followLeaderNow()
	n := t.leader()
	t.Exchange = n.Exchange
	d := t.mountSmallDisk(1024) // each file of the Raft log has 64 MB from its beginning
	t.awaitMembersReachable()
	t.handOverTo(n.ID)
	return d, n
}

// stallDisk delays each fsync of a node for some seconds.
func (t *torture) stallDisk(n *witness.ClusterNode) bool {
	delay := 300*time.Millisecond + time.Duration(t.random.Int64N(int64(2*time.Second)))
	trace := filepath.Join(t.dir, "trace")
	defer func() { _ = os.Remove(trace) }()
	cmd := exec.Command("strace", "-f", "-o", trace, "-e", "trace="+syscallNames["fsync"],
		"-e", fmt.Sprintf("inject=%s:delay_enter=%d", syscallNames["fsync"], delay.Microseconds()), "-p", strconv.Itoa(n.Pid()))
	t.failOnError(cmd.Start())
	t.Suppliers.SendLeads(fewLeads)
	time.Sleep(time.Second)
	t.sleepUpTo(3 * time.Second)
	_ = cmd.Process.Signal(os.Interrupt) // strace detaches
	_ = cmd.Wait()
	return strings.Contains(readText(trace), "sync(")
}

// failRaftLog makes the next call on the leader's Raft log fail. The leader must end.
func (t *torture) failRaftLog(call string) bool {
	t.followLeaderNow()
	files, err := filepath.Glob(filepath.Join(t.DataDir(), "cluster", "log", "*.wal"))
	t.failOnError(err)
	if len(files) == 0 {
		t.test.Fatalf("%s has no Raft log", t.DataDir())
	}
	slices.Sort(files)
	cmd, trace := t.attachStrace(files[len(files)-1], syscallNames["write"]+","+syscallNames["fsync"], syscallNames[call]+":error=EIO")
	defer func() { _ = os.Remove(trace) }()
	t.Suppliers.SendLeads(fewLeads)
	failed := func() bool { return strings.Contains(readText(trace), "(INJECTED)") }
	deadline := time.Now().Add(10 * time.Second)
	for !failed() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if !failed() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		return false
	}
	t.expectFailure(call + " of the Raft log with EIO")
	_ = cmd.Wait()
	t.Start()
	return true
}
