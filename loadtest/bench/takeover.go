package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/bench/supplier"
	"pingpost/loadtest/load"
)

const (
	takeoverRate  = 50 // leads a second
	leadPatience  = 1500 * time.Millisecond
	takeoverLimit = 20 * time.Second
	syncDelay     = 3 * time.Second // of a disk that stalls, longer than a takeover
)

// takeover measures the time until another node acknowledges leads after the leader was killed, and after it
// was stopped. A single node is killed and started again in turn with the leader.
func (b *bench) takeover() ([]row, error) {
	c, err := b.startCluster("takeover")
	if err != nil {
		return nil, err
	}
	d := catalogWithCampaigns(10).withoutReport()
	d.setLoopbackAddresses()
	single, err := b.startSingle("restarted", d)
	if err != nil {
		return nil, err
	}
	var leads, singleLeads []supplier.Acknowledgment
	var killed, restarted, stopped, stalled series
	for range b.size.kills {
		if err := errors.Join(c.addTakeover(&killed, &leads, c.kill), single.addTakeover(&restarted, &singleLeads, single.restart)); err != nil {
			return nil, err
		}
	}
	for range b.size.stops {
		if err := c.addTakeover(&stopped, &leads, c.stop); err != nil {
			return nil, err
		}
	}
	for range b.size.stops {
		err := c.addTakeover(&stalled, &leads, c.stallDisk)
		if errors.Is(err, errors.ErrUnsupported) {
			b.logf("the takeover after a disk stall is not measured, because it needs strace")
			break
		}
		if err != nil {
			return nil, err
		}
	}
	missing, err := c.countMissing(leads)
	return takeoverRows(killed, restarted, stopped, stalled, len(leads), missing), err
}

// addTakeover ends the leader with the function end, as endLeader does, and adds the time to a series.
func (c *measuredCluster) addTakeover(to *series, leads *[]supplier.Acknowledgment, end func(*clusterNode, *supplier.Supplier) (float64, error)) error {
	took, err := rerunWhileNoisy(c.b.guard, func() (float64, error) { return c.endLeader(leads, end) })()
	if err != nil {
		return fmt.Errorf("takeover %d: %w", len(*to)+1, err)
	}
	*to = append(*to, took)
	return nil
}

// startSingle starts a single node, which this package treats as a cluster of one.
func (b *bench) startSingle(name string, d *document) (*measuredCluster, error) {
	config, err := b.configure(name, d)
	if err != nil {
		return nil, err
	}
	n := &clusterNode{config: config, data: d.DataDir, cores: b.cores.servers}
	c := &measuredCluster{b: b, nodes: []*clusterNode{n}, campaigns: d.campaignIDs("")}
	err = c.serve(n)
	return c, err
}

// endLeader sends leads to all nodes, ends the leader with the function end, and returns the milliseconds
// until another node acknowledged a lead that began afterwards. It appends the acknowledgments to leads.
func (c *measuredCluster) endLeader(leads *[]supplier.Acknowledgment, end func(*clusterNode, *supplier.Supplier) (float64, error)) (float64, error) {
	if _, err := c.awaitComplete(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(c.b.ctx)
	defer cancel()
	s := supplier.Start(ctx, supplier.Options{
		Addrs: c.addresses(), Interval: time.Second / takeoverRate, Patience: leadPatience,
		Leads: load.Leads{Supplier: child.SupplierID, Campaigns: c.campaigns}, Key: apiKey, First: c.next,
	})
	time.Sleep(300*time.Millisecond + rand.N(200*time.Millisecond)) // at any moment between two heartbeats
	var took float64
	leader, err := c.awaitLeader()
	if err == nil {
		took, err = end(leader, s)
	}
	if err == nil {
		_, err = c.awaitComplete()
	}
	if err != nil {
		cancel() // the last leads may never get an answer
	}
	timer := time.AfterFunc(clusterTimeout, cancel)
	defer timer.Stop()
	accepted, next := s.Stop()
	if lost := next - c.next - uint64(len(accepted)); err == nil && lost > 0 {
		err = fmt.Errorf("%d leads were not acknowledged within %s", lost, clusterTimeout)
	}
	*leads, c.next = append(*leads, accepted...), next
	return took, err
}

// kill kills the leader, and starts it again after the takeover.
func (c *measuredCluster) kill(leader *clusterNode, s *supplier.Supplier) (float64, error) {
	began := time.Now()
	leader.kill()
	first, err := s.AwaitAfter(c.b.ctx, began, leader.Listen, takeoverLimit)
	return first.Received.Sub(began).Seconds() * 1e3, errors.Join(err, c.serve(leader))
}

// restart kills the single node, and starts it again at once.
func (c *measuredCluster) restart(single *clusterNode, s *supplier.Supplier) (float64, error) {
	began := time.Now()
	single.kill()
	if err := c.serve(single); err != nil {
		return 0, err
	}
	first, err := s.AwaitAfter(c.b.ctx, began, "", takeoverLimit)
	return first.Received.Sub(began).Seconds() * 1e3, err
}

// stop pauses the leader, which keeps its connections, and resumes it after the takeover.
func (c *measuredCluster) stop(leader *clusterNode, s *supplier.Supplier) (float64, error) {
	began := time.Now()
	if err := pause(leader.cmd.Process); err != nil {
		return 0, err
	}
	first, err := s.AwaitAfter(c.b.ctx, began, leader.Listen, takeoverLimit)
	return first.Received.Sub(began).Seconds() * 1e3, errors.Join(err, resume(leader.cmd.Process))
}

// stallDisk delays each fsync of the leader until after the takeover.
func (c *measuredCluster) stallDisk(leader *clusterNode, s *supplier.Supplier) (float64, error) {
	end, err := delaySyncs(c.b.ctx, leader.cmd.Process, syncDelay)
	if err != nil {
		return 0, err
	}
	defer end()
	began := time.Now()
	first, err := s.AwaitAfter(c.b.ctx, began, leader.Listen, takeoverLimit)
	return first.Received.Sub(began).Seconds() * 1e3, err
}

// countMissing counts the acknowledged leads that the log of a node lacks, and those that it has twice.
func (c *measuredCluster) countMissing(leads []supplier.Acknowledgment) (missing int, err error) {
	leader, err := c.awaitComplete()
	if err != nil {
		return 0, err
	}
	end, err := leader.status(c.b.ctx)
	if err != nil {
		return 0, err
	}
	for _, n := range c.nodes {
		var count int
		reached := func() bool {
			var last uint64
			count, last, err = supplier.CountMissing(n.data, leads)
			return err != nil || last >= end.Entry
		}
		if err := errors.Join(c.await("node "+n.id+" lacks entries", reached), err); err != nil {
			return 0, err
		}
		missing += count
	}
	return missing, nil
}

func takeoverRows(killed, restarted, stopped, stalled series, leads, missing int) []row {
	kill := fmt.Sprintf("kill -9 of a cluster's leader, %d leads/s to all nodes in turn, until another node acknowledges a lead, %d times: ", takeoverRate, len(killed))
	p99 := killed.quantile(0.99)
	none := row{
		label: "acknowledged leads that a node's log lacks, or has twice, after these takeovers", measured: fmt.Sprintf("%d of %d", missing, leads),
		goal: "0", verdict: atMost(float64(missing), 0, 0),
	}
	rows := []row{
		{
			label: kill + "p50", measured: fmt.Sprintf("%.0f ms; a single node that is started at once %.0f ms", killed.median(), restarted.median()),
			rangeText: killed.rangeText("%.0f"), goal: "400 ms", verdict: atMost(killed.median(), 400, 400),
		},
		{
			label: kill + "p99", measured: fmt.Sprintf("%.0f ms; a single node that is started at once %.0f ms", p99, restarted.quantile(0.99)),
			goal: "800 ms", verdict: atMost(p99, 800, 800),
		},
		longestTakeover("SIGSTOP of a cluster's leader", stopped),
	}
	if len(stalled) > 0 {
		rows = append(rows, longestTakeover(fmt.Sprintf("each fsync of a cluster's leader takes %s", syncDelay), stalled))
	}
	return append(rows, none)
}

func longestTakeover(cause string, took series) row {
	return row{
		label:    fmt.Sprintf("%s, until another node acknowledges a lead, %d times: the longest", cause, len(took)),
		measured: fmt.Sprintf("%.0f ms, p50 %.0f ms", slices.Max(took), took.median()), rangeText: took.rangeText("%.0f"),
		goal: "1500 ms", verdict: atMost(slices.Max(took), 1500, 1500),
	}
}
