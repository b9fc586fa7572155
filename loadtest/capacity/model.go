package main

import "math"

// assumption is what is not measured: a disk, a network, what is used of them, and
// what a provider asks.
type assumptions struct {
	use         float64 // share of a resource that is planned with
	diskBytes   float64 // a second
	rewritten   float64 // times that a byte of the log is written in all
	netBits     float64 // a second, each way
	coreMemory  float64 // bytes of memory that come with a core
	days        float64 // that a lead stays in memory
	coreHour    float64 // what a core costs, USD
	gigaMonth   float64 // what a gigabyte of disk costs, USD
	historyDays float64 // that the log stays
}

var common = assumptions{
	use: 0.8, diskBytes: 200e6, rewritten: 2, netBits: 10e9, coreMemory: 4e9, days: 30, coreHour: 0.04, gigaMonth: 0.10, historyDays: 45,
}

// work is one kind of lead, as it was measured.
type work struct {
	name     string
	micros   float64 // of a processor
	entries  float64 // that the committer takes
	logBytes float64
	netBytes float64 // the larger of both ways
}

// limit is what ends a node's growth.
type limit string

const (
	byHandlers  limit = "processors"
	byCommitter limit = "the committer"
	byDisk      limit = "the disk"
	byNetwork   limit = "the network"
)

// carried is what a node does of one kind of work.
type carried struct {
	perSecond float64
	limit     limit
	held      float64 // leads that its memory holds
	heldRate  float64 // a second, day and night, at which that memory is full
}

// measured is what the bench found of the machine as a whole.
type measured struct {
	committer float64 // entries a second
	memory    float64 // bytes of a lead that is held
}

// carries is what a node of so many cores does.
func (a *assumptions) carries(w *work, m *measured, cores float64) carried {
	c := carried{perSecond: math.Inf(1)}
	for _, bound := range []struct {
		by     limit
		amount float64
	}{
		{byHandlers, a.use * cores * 1e6 / w.micros},
		{byCommitter, a.use * m.committer / w.entries},
		{byDisk, a.use * a.diskBytes / (a.rewritten * w.logBytes)},
		{byNetwork, a.use * a.netBits / 8 / w.netBytes},
	} {
		if bound.amount < c.perSecond {
			c.perSecond, c.limit = bound.amount, bound.by
		}
	}
	c.held = a.use * a.coreMemory * cores / m.memory
	c.heldRate = c.held / (a.days * 24 * 3600)
	return c
}

// million is what a million leads cost.
type million struct {
	coreSeconds, logGigabytes, memoryGigabytes, dollars float64
}

func (a *assumptions) costs(w *work, m *measured) million {
	cost := million{coreSeconds: w.micros, logGigabytes: w.logBytes * 1e6 / 1e9, memoryGigabytes: m.memory * 1e6 / 1e9}
	cost.dollars = cost.coreSeconds/a.use/3600*a.coreHour + cost.logGigabytes*a.gigaMonth*a.historyDays/30
	return cost
}
