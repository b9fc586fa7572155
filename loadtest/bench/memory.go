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
