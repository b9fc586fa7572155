//go:build linux

package torture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pingpost/fuzz/witness"
)

// identityFaults start nodes that have the data of another time or of another node. The other nodes refuse
// them, and the cluster goes on.
var identityFaults = []*fault{
	{name: "second node with the id and data of a follower", weight: 1, inject: func(t *torture) bool {
		follower := t.follower()
		follower.Signal(syscall.SIGSTOP) // so that the copy is that of one moment, as of a virtual machine
		double := t.newDouble(follower)
		t.copyFolder(follower.DataDir(), double.DataDir())
		follower.Signal(syscall.SIGCONT)
		double.Launch()
		t.sendFewLeads()
		ended := func(x *witness.Exchange) bool { return x.ExitReport() != "" }
		witness.Await(t.test, "one of two nodes with the same id ends", func() bool { return ended(double) || ended(follower.Exchange) })
		// The other one may have to end too: each of the other nodes remembers the start that it has seen last.
		for _, x := range []*witness.Exchange{double, follower.Exchange} {
			if ended(x) {
				t.checkRefusal(x)
			} else {
				x.Signal(syscall.SIGKILL)
				x.AwaitFailure()
			}
		}
		t.Cluster.Replace(follower)
		return true
	}},
	{name: "second node with the id and old data of a follower", weight: 1, inject: func(t *torture) bool {
		follower := t.follower()
		double := t.newDouble(follower)
		t.copyStoppedFolder(follower, double.DataDir())
		t.sendFewLeads()
		double.Launch()
		t.sendFewLeads()
		t.checkRefusal(double)
		return true
	}},
	{name: "follower with its old data", weight: 1, inject: func(t *torture) bool { return t.startWithOldData(t.follower()) }},
	{name: "old leader with its old data", weight: 1, inject: func(t *torture) bool { return t.startWithOldData(t.leader()) }},
}

// startWithOldData starts a node with an earlier copy of its data, and then with its own.
func (t *torture) startWithOldData(n *witness.ClusterNode) bool {
	old, present := n.DataDir()+".old", n.DataDir()+".present"
	t.copyStoppedFolder(n, old)
	t.sendFewLeads()
	n.Kill()
	t.failOnError(os.Rename(n.DataDir(), present))
	t.failOnError(os.Rename(old, n.DataDir()))
	n.Launch()
	t.checkRefusal(n.Exchange)
	t.failOnError(os.RemoveAll(n.DataDir()))
	t.failOnError(os.Rename(present, n.DataDir()))
	n.Start()
	return true
}

// copyStoppedFolder restarts a node, and copies its data in between.
func (t *torture) copyStoppedFolder(n *witness.ClusterNode, to string) {
	n.Stop()
	t.copyFolder(n.DataDir(), to)
	n.Start()
}

func (t *torture) copyFolder(from, to string) {
	t.failOnError(os.RemoveAll(to))
	t.failOnError(os.MkdirAll(to, 0o700))
	copyDir(t, from, to)
}

// newDouble returns a stopped node on a follower's machine, with the follower's id and other ports. Its old
// data is deleted.
func (t *torture) newDouble(of *witness.ClusterNode) *witness.Exchange {
	folder := filepath.Join(t.dir, of.ID+"-double")
	t.failOnError(os.RemoveAll(folder))
	t.failOnError(os.MkdirAll(folder, 0o700))
	text, err := os.ReadFile(filepath.Join(filepath.Dir(of.DataDir()), "exchange.json"))
	t.failOnError(err)
	var document witness.Object
	t.failOnError(json.Unmarshal(text, &document))
	document["listen"] = of.PublicIP + ":8081"
	document["admin"].(map[string]any)["listen"] = of.PublicIP + ":9091"
	document["cluster"].(map[string]any)["listen"] = of.ClusterIP + ":7401"
	double := witness.NewExchange(t.test, t.program, folder)
	double.Through = of.Through
	double.Configure(witness.Encode(document))
	return double
}

// checkRefusal waits until a node with wrong data ends. Its error must name the cause.
func (t *torture) checkRefusal(x *witness.Exchange) {
	code, said := x.AwaitFailure(), x.LastLines()
	if code != 1 || !strings.Contains(said, "has an old copy of its data") && !strings.Contains(said, "run with copies of the same data") {
		t.test.Errorf("a node with wrong data must end with exit code 1 and the cause, but ended with %d:\n%s", code, said)
	}
}
