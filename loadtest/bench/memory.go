package main

import (
	"fmt"
	"time"

	"pingpost/loadtest/bench/child"
)

// memory measures the memory of an accepted lead and of an idle process.
func (b *bench) memory() ([]row, error) {
	var weighed child.MemoryResult
	err := runChild(b.ctx, nil, nil, "role-memory", child.MemorySpec{Smallest: b.size.memoryMin, Largest: b.size.memoryMax}, &weighed)
	if err != nil {
		return nil, err
	}
	idle, err := b.idle()
	if err != nil {
		return nil, err
	}
	each := series(weighed.BytesEach)
	return []row{
		{
			label: fmt.Sprintf("hot memory of an accepted lead with an idempotency key and two duplicate values, %d to %d leads",
				weighed.Leads[0], weighed.Leads[len(weighed.Leads)-1]),
			measured: fmt.Sprintf("%.0f bytes", each.median()), rangeText: each.rangeText("%.0f"),
			goal: "300 bytes or fewer", verdict: atMost(each.median(), 300, 300),
			figure: figureMemory, value: each.median(),
		},
		{
			label: "idle process with a small catalog, resident", measured: fmt.Sprintf("%.1f MB", float64(idle)/1e6),
			goal: "30 MB or less", verdict: atMost(float64(idle), 30e6, 30e6),
		},
	}, nil
}

// idle returns the resident memory of an exchange some seconds after its start.
func (b *bench) idle() (int, error) {
	s, err := b.startExchange("idle", catalogWithCampaigns(10))
	if err != nil {
		return 0, err
	}
	select {
	case <-time.After(b.size.idle):
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	return s.resident()
}

// pingMemory measures the memory of pings that end before a buyer is asked. One kind is
// rejected by its campaign's filter, and one has no campaign.
func (b *bench) pingMemory() (rows []row, err error) {
	for _, kind := range []struct {
		vertical, what, goal string
		most                 float64
		figure               figureName
	}{
		{"auto", "a ping with an idempotency key and a campaign", "130 bytes or fewer", 130, figurePingMemory},
		{"boats", "a ping with an idempotency key and no campaign (no_campaign)", "65 bytes or fewer", 65, figureNoCampaignMemory},
	} {
		spec := child.PingMemorySpec{Vertical: kind.vertical, MemorySpec: child.MemorySpec{Smallest: b.size.memoryMin, Largest: b.size.memoryMax}}
		var weighed child.MemoryResult
		if err := runChild(b.ctx, nil, nil, "role-ping-memory", spec, &weighed); err != nil {
			return nil, err
		}
		each := series(weighed.BytesEach)
		rows = append(rows, row{
			label: fmt.Sprintf("hot memory of %s at 100/s, kept for ping_idempotency, %d to %d pings",
				kind.what, weighed.Leads[0], weighed.Leads[len(weighed.Leads)-1]),
			measured: fmt.Sprintf("%.0f bytes", each.median()), rangeText: each.rangeText("%.0f"),
			goal: kind.goal, verdict: atMost(each.median(), kind.most, kind.most),
			figure: kind.figure, value: each.median(),
		})
	}
	return rows, nil
}

// residentMemory compares the resident memory of an exchange that has sold many leads with its live data. Live data
// are the bytes of the Go heap after a forced collection. All other resident memory counts as overhead: garbage,
// stacks, SQLite and the program's file.
func (b *bench) residentMemory() ([]row, error) {
	s, err := b.startExchange("resident", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	if _, err := b.sellLeads(s, b.size.soakLeads/20); err != nil {
		return nil, err
	}
	resident, live, err := b.residentAndLive(s.process)
	if err != nil {
		return nil, err
	}
	sold := *s.next
	how, err := b.sellLeads(s, b.size.soakLeads)
	if err != nil {
		return nil, err
	}
	residentAtEnd, liveAtEnd, err := b.residentAndLive(s.process)
	if err != nil {
		return nil, err
	}
	ratio, leads := residentAtEnd/liveAtEnd, float64(*s.next-sold)
	what := fmt.Sprintf("after %d sold leads, %s: ", *s.next, how)
	return []row{
		{
			label:    what + "resident memory over the live heap",
			measured: fmt.Sprintf("%.2f times (%.0f and %.0f MB)", ratio, residentAtEnd/1e6, liveAtEnd/1e6),
			goal:     "at most 1.5 times", verdict: atMost(ratio, 1.5, 1.5),
		},
		{
			label:    what + "growth of the resident memory for each lead",
			measured: fmt.Sprintf("%.0f bytes; of the live heap %.0f", (residentAtEnd-resident)/leads, (liveAtEnd-live)/leads),
		},
	}, nil
}

// sellLeads sends leads until the exchange has received this number, at the steady rate with --soak, otherwise in a
// closed loop. It returns the kind of the load.
func (b *bench) sellLeads(s *ingestTarget, leads uint64) (how string, err error) {
	if b.flags.Soak {
		duration := time.Duration(float64(leads-*s.next) / steadyRate * float64(time.Second))
		_, err = b.sendAtRate(s, steadyRate, 0, duration)
		return fmt.Sprintf("%d/s", steadyRate), err
	}
	connections := b.size.connections[0]
	for err == nil && *s.next < leads {
		_, err = b.runLoadClient(s.process, child.LoadSpec{Connections: connections, Duration: b.size.calibration, Campaigns: s.campaigns}, s.next)
	}
	return fmt.Sprintf("closed loop of %d connections", connections), err
}

// residentAndLive returns the resident memory of an exchange, and then its live heap after a collection, in bytes.
func (b *bench) residentAndLive(p *process) (resident, live float64, err error) {
	before, err := p.resident()
	if err != nil {
		return 0, 0, err
	}
	live, err = p.liveHeap(b.ctx)
	return float64(before), live, err
}

// These are the rate of the leads and the memory limit of the Go runtime.
const (
	steadyRate  = 1000
	memoryLimit = "GOMEMLIMIT=128MiB"
)

// memoryLimited compares ingest in a process with a small memory limit with ingest in a
// process without one. Both receive leads for the same time.
func (b *bench) memoryLimited() ([]row, error) {
	limited, err := b.runLimited("tight", memoryLimit)
	if err != nil {
		return nil, err
	}
	free, err := b.runLimited("roomy")
	if err != nil {
		return nil, err
	}
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	ratio := ms(limited.Latency.P99) / ms(free.Latency.P99)
	what := fmt.Sprintf("%d leads/s for %s under %s: ", steadyRate, b.size.memoryLimitDuration, memoryLimit)
	return []row{
		{
			label:    what + "p99 over that without the limit",
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms; p50 %.2f and %.2f)", ratio, ms(limited.Latency.P99), ms(free.Latency.P99), ms(limited.Latency.P50), ms(free.Latency.P50)),
			goal:     "at most 2 times", verdict: atMost(ratio, 2, 2),
		},
		{
			label:    what + "resident at its end",
			measured: fmt.Sprintf("%.0f MB with %d leads, %.0f MB without the limit", float64(limited.resident)/1e6, limited.Done, float64(free.resident)/1e6),
		},
	}, nil
}

// limitedRun is the latency of the leads and the resident memory at the end.
type limitedRun struct {
	child.LoadResult
	resident int
}

// runLimited sends leads at the steady rate to a new exchange.
func (b *bench) runLimited(name string, env ...string) (r limitedRun, err error) {
	s, err := b.startExchange(name, catalogWithCampaigns(10), env...)
	if err != nil {
		return r, err
	}
	defer s.kill()
	r.LoadResult, err = rerunWhileNoisy(b.guard, func() (child.LoadResult, error) {
		return b.sendAtRate(s, steadyRate, limiterFillTime, b.size.memoryLimitDuration)
	})()
	if err != nil {
		return r, err
	}
	if want := uint64(0.9 * steadyRate * b.size.memoryLimitDuration.Seconds()); r.Done < want {
		return r, fmt.Errorf("%d leads were answered, fewer than %d", r.Done, want)
	}
	r.resident, err = s.resident()
	return r, err
}
