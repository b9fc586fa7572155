package exchange

import (
	"strings"
	"testing"
)

// TestFollowersReportFindsPersons: the report of a node that never led has the hashes of the leads' phone
// numbers and addresses, and is not rebuilt.
func TestFollowersReportFindsPersons(t *testing.T) {
	t.Parallel()
	c := startClusterWith(t, strings.Replace(clusterConfig, "report: {keep: 0s}\n", "", 1), "a", "b", "c")
	leader := c.waitForLeader()
	for i := range 5 {
		leader.mustSell(leadBody(i))
	}
	c.waitForEqualStates()
	count := func(x *testExchange) (n int) {
		eventually(t, "the report has the newest entries", func() bool { return x.Report().WaitBrieflyForNewestEntries(t.Context(), 0) })
		return x.countPersonHashes()
	}
	want := count(leader)
	for _, id := range c.ids {
		n := c.nodes[id]
		if got, rebuilds := count(n), n.Report().ProgressStatus().Rebuilds; got != want || got < 5 || rebuilds > 0 {
			t.Errorf("the report of node %s has %d persons, and that of the leader %d; it was rebuilt %d times", id, got, want, rebuilds)
		}
	}
}
