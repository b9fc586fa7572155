package main

import (
	"errors"
	"fmt"

	"pingpost/loadtest/bench/child"
)

// nodeRun is a run of the client against a cluster or a single node.
type nodeRun struct {
	child.LoadResult
	handOvers int
	cluster   float64 // CPU seconds of all nodes
}

// loadedCluster counts the unwanted elections of a cluster under load.
type loadedCluster struct {
	*measuredCluster
	term         uint64 // of the leader, when it was read last
	elections    uint64 // terms that began without a hand-over
	failed, sent uint64 // leads
}

// clusterLoad compares the commits of a cluster with those of a single node, at a steady rate and at
// saturation, and the leader with a follower that forwards to it.
func (b *bench) clusterLoad() ([]row, error) {
	started, err := b.startCluster("replicated")
	if err != nil {
		return nil, err
	}
	c := &loadedCluster{measuredCluster: started}
	single, err := b.startPaused("unreplicated", catalogWithCampaigns(10).withoutReport())
	if err != nil {
		return nil, err
	}
	steady := child.LoadSpec{Connections: auctionConnections, Rate: steadyRate, Warmup: b.size.warmup, Duration: b.size.duration, Campaigns: c.campaigns}
	closed := child.LoadSpec{Connections: auctionConnections, Warmup: b.size.warmup, Duration: b.size.duration, Campaigns: c.campaigns}
	alone := func(spec child.LoadSpec) func() (nodeRun, error) {
		return rerunWhileNoisy(b.guard, func() (nodeRun, error) { return b.runSingle(single, spec) })
	}
	to := func(n *clusterNode, spec child.LoadSpec) func() (nodeRun, error) {
		return rerunWhileNoisy(b.guard, func() (nodeRun, error) { return c.run(n, spec) })
	}
	if err := c.lead(); err != nil {
		return nil, err
	}
	at, err := alternate(b.size.runs, to(c.nodes[0], steady), alone(steady), to(c.nodes[1], steady))
	if err != nil {
		return nil, err
	}
	full, err := alternate(b.size.runs, to(c.nodes[0], closed), alone(closed))
	if err != nil {
		return nil, err
	}
	rows := steadyRows(at[0], at[1], at[2])
	return append(rows, saturatedRow(full[0], full[1]), c.electionsRow()), nil
}

// runSingle sends leads to a paused single node.
func (b *bench) runSingle(single *ingestTarget, spec child.LoadSpec) (r nodeRun, err error) {
	err = single.whileResumed(func() (err error) {
		r.LoadResult, err = b.runLoadClient(single.process, spec, single.next)
		return err
	})
	return r, err
}

// lead makes the first node the leader.
func (c *loadedCluster) lead() error {
	if err := c.makeLeader(c.nodes[0]); err != nil {
		return err
	}
	s, err := c.nodes[0].status(c.b.ctx)
	c.term = s.Term
	return err
}

// countElections adds the terms since the last call, or since the hand-over to the first node.
func (c *loadedCluster) countElections() error {
	s, err := c.nodes[0].status(c.b.ctx)
	if err == nil {
		c.elections += s.Term - c.term
		c.term = s.Term
	}
	return err
}

// run sends leads to a node while the first node leads. It counts elections since the last run as well.
func (c *loadedCluster) run(n *clusterNode, spec child.LoadSpec) (r nodeRun, err error) {
	if err := errors.Join(c.countElections(), c.lead()); err != nil {
		return r, err
	}
	before := c.cpuSeconds()
	r.LoadResult, err = c.b.runLoadClientWithFailures(n.process, spec, &c.next)
	r.cluster = c.cpuSeconds() - before
	c.failed, c.sent = c.failed+r.FailedRequests(), c.sent+r.Sent
	if r.FirstError != "" {
		c.b.logf("%d of %d leads failed at node %s; the first: %s", r.FailedRequests(), r.Sent, n.id, r.FirstError)
	}
	return r, errors.Join(err, c.countElections())
}

func (c *measuredCluster) cpuSeconds() (sum float64) {
	for _, n := range c.nodes {
		sum += n.cpuSeconds()
	}
	return sum
}

// steadyRows compares the latencies of the leader with those of a single node and of a follower.
func steadyRows(leader, single, follower []nodeRun) []row {
	p50 := func(r *nodeRun) float64 { return float64(r.Latency.P50) / 1e6 }
	p99 := func(r *nodeRun) float64 { return float64(r.Latency.P99) / 1e6 }
	what := fmt.Sprintf("%d leads/s, open loop, at the leader of three nodes on this machine: ", steadyRate)
	added := func(name string, figure func(*nodeRun) float64) row {
		theirs, ours := collect(follower, figure), collect(leader, figure)
		more := theirs.minus(ours)
		return row{
			label:     fmt.Sprintf("%d leads/s, open loop, at a follower, which forwards them: %s over the leader's", steadyRate, name),
			measured:  fmt.Sprintf("%.2f ms more (%.2f and %.2f ms)", more.median(), theirs.median(), ours.median()),
			rangeText: more.rangeText("%.2f"),
		}
	}
	return []row{
		timesRow(what+"p50 over a single node's", collect(leader, p50), collect(single, p50), "%.2f and %.2f ms").withGoal("at most 2 times", 2, 2),
		timesRow(what+"p99 over a single node's", collect(leader, p99), collect(single, p99), "%.2f and %.2f ms").withGoal("at most 3 times", 3, 3),
		added("p50", p50),
		added("p99", p99),
	}
}

// saturatedRow compares the rates of the leader and of a single node.
func saturatedRow(leader, single []nodeRun) row {
	rate := func(r *nodeRun) float64 { return r.Rate }
	a, z := collect(leader, rate), collect(single, rate)
	ratio := a.ratioTo(z)
	own := collect(leader, func(r *nodeRun) float64 { return 1e6 * r.ServerSecondsEach() })
	others := collect(leader, func(r *nodeRun) float64 { return 1e6 * (r.cluster - r.ServerSeconds) / float64(max(1, r.Sent)) })
	alone := collect(single, func(r *nodeRun) float64 { return 1e6 * r.ServerSecondsEach() })
	return row{
		label: fmt.Sprintf("closed loop of %d connections at the leader of three nodes on this machine: leads/s over a single node's", auctionConnections),
		measured: fmt.Sprintf("%.2f (%.0f of %.0f leads/s); processor time of a lead %.1f µs at the leader and %.1f at both followers, of a single node %.1f",
			ratio.median(), a.median(), z.median(), own.median(), others.median(), alone.median()),
		rangeText: ratio.rangeText("%.2f"), goal: "at least 0.50", verdict: atLeast(ratio.median(), 0.5, 0.5),
	}
}

func (c *loadedCluster) electionsRow() row {
	return row{
		label:    "elections during these runs of a cluster",
		measured: fmt.Sprintf("%d; %d of %d leads failed", c.elections, c.failed, c.sent),
		goal:     "0", verdict: atMost(float64(c.elections+c.failed), 0, 0),
	}
}
