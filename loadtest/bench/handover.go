package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pingpost/loadtest/bench/child"
)

const (
	handOverRate        = 500 // leads a second
	handOverConnections = 256 // enough for the leads that wait during a hand-over
)

// handOver measures planned hand-overs between leaders while leads arrive at all nodes, in turn with a
// single node without hand-overs.
func (b *bench) handOver() ([]row, error) {
	c, err := b.startCluster("handover")
	if err != nil {
		return nil, err
	}
	single, err := b.startPaused("settled", catalogWithCampaigns(10).withoutReport())
	if err != nil {
		return nil, err
	}
	spec := child.LoadSpec{
		Connections: handOverConnections, Rate: handOverRate, Even: true, Warmup: b.size.handOverEvery, Duration: b.size.handOverDuration, Campaigns: c.campaigns,
	}
	both, err := alternate(b.size.runs,
		rerunWhileNoisy(b.guard, func() (nodeRun, error) { return c.runWithHandOvers(spec) }),
		rerunWhileNoisy(b.guard, func() (nodeRun, error) { return b.runSingle(single, spec) }))
	if err != nil {
		return nil, err
	}
	return handOverRows(both[0], both[1]), nil
}

// runWithHandOvers runs the client, and hands over from node to node meanwhile.
func (c *measuredCluster) runWithHandOvers(spec child.LoadSpec) (r nodeRun, err error) {
	leader, err := c.awaitComplete()
	if err != nil {
		return r, err
	}
	spec.Addrs = c.addresses()
	ended := make(chan struct{})
	var loadErr error
	go func() {
		defer close(ended)
		r.LoadResult, loadErr = c.b.runLoadClientWithFailures(leader.process, spec, &c.next)
	}()
	at := slices.Index(c.nodes, leader)
	handOvers := 0
	ticker := time.NewTicker(c.b.size.handOverEvery)
	defer ticker.Stop()
	for end := time.Now().Add(spec.Warmup + spec.Duration - c.b.size.handOverEvery/2); err == nil && time.Now().Before(end); {
		<-ticker.C
		at = (at + 1) % len(c.nodes)
		err = c.makeLeader(c.nodes[at])
		handOvers++
	}
	<-ended
	r.handOvers = handOvers
	if r.FirstError != "" {
		c.b.logf("%d of %d leads failed during %d hand-overs; the first: %s", r.FailedRequests(), r.Sent, handOvers, r.FirstError)
	}
	return r, errors.Join(err, loadErr)
}

func handOverRows(ours, single []nodeRun) []row {
	longest := func(r *nodeRun) float64 { return float64(r.Latency.Max) / 1e6 }
	var failed, sent uint64
	handOvers := 0
	for i := range ours {
		failed, sent, handOvers = failed+ours[i].FailedRequests(), sent+ours[i].Sent, handOvers+ours[i].handOvers
	}
	waits := collect(ours, longest)
	what := fmt.Sprintf("%d planned hand-overs between a cluster's leaders, %d leads/s to all nodes in turn: ", handOvers, handOverRate)
	return []row{
		{label: what + "failed requests", measured: fmt.Sprintf("%d of %d", failed, sent), goal: "0", verdict: atMost(float64(failed), 0, 0)},
		{
			label:     what + "longest wait of a lead",
			measured:  fmt.Sprintf("%.0f ms; median of the runs' longest %.0f ms, of a single node without hand-overs %.0f ms", slices.Max(waits), waits.median(), collect(single, longest).median()),
			rangeText: waits.rangeText("%.0f"), goal: "250 ms", verdict: atMost(slices.Max(waits), 250, 250),
		},
	}
}
