//go:build unix

package witness

import (
	"fmt"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
)

// A cluster of real processes sells leads, and keeps them over the loss of its leader and over a
// replaced node.
func TestClusterOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("long: it builds the program and starts three processes")
	}
	program := filepath.Join(t.TempDir(), "pingpost")
	Build(t, program, false)
	document := Encode(Object{
		"admin":     Object{"password": AdminPassword},
		"suppliers": []Object{{"id": SupplierID, "api_key": APIKey}},
		"buyers":    []Object{{"id": "rec_rest"}},
		"campaigns": []Object{{"id": "cmp", "method": "waterfall", "payout": Object{"share": 0.8}, "buyers": []Object{{"buyer": "rec_rest", "price": 10}}}},
	})
	c := NewCluster(t, program, t.TempDir(), document, "a", "b", "c")
	c.Create()
	first := c.AwaitLeader()
	first.Kill()
	second := c.AwaitLeader()
	if second == first {
		t.Fatalf("node %s leads after it was killed", first.ID)
	}
	first.Start()
	if status, text := c.HandOver(first.ID); status >= http.StatusMultipleChoices {
		t.Errorf("hand-over to %s: %d %s", first.ID, status, text)
	}
	if leader := c.AwaitLeader(); leader != first {
		t.Errorf("node %s leads after the hand-over to %s", leader.ID, first.ID)
	}
	second.Signal(syscall.SIGTERM)
	Await(t, "the node stops", func() bool { return !second.IsRunning() })
	c.Replace(second)
	for _, n := range c.Nodes {
		if lines := n.ErrorLines(); len(lines) > 0 {
			t.Error(fmt.Sprint(n.ID, lines))
		}
	}
}
