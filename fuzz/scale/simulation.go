package main

import (
	"math/rand/v2"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// simulation is one run with one policy.
type simulation struct {
	options
	schedule
	policy     *policy
	market     *marketplace
	network    *network
	partitions []*partition
	audit      *audit
	figures    figures
	demand     *rand.Rand
	start, end int64
	month      int64 // in which all leads are sold
}

// startTime is chosen so that days end in several time zones, and summer time ends in Europe, within three
// hours.
var startTime = time.Date(2026, time.October, 24, 21, 40, 0, 0, time.UTC)

func newSimulation(opt options, p *policy) (*simulation, error) {
	s := &simulation{options: opt, policy: p, start: startTime.UnixNano(), demand: rand.New(rand.NewPCG(opt.Seed, 1))}
	s.now, s.end = s.start, s.start+int64(opt.Leads)*int64(time.Second)/int64(opt.Rate)
	s.month = time.Date(2026, time.October, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	var err error
	if s.market, err = newMarketplace(rand.New(rand.NewPCG(opt.Seed, 2)), &opt); err != nil {
		return nil, err
	}
	s.network = &network{sim: s, random: rand.New(rand.NewPCG(opt.Seed, 3))}
	s.audit = newAudit(s)
	for id := range opt.Partitions {
		p := newPartition(s, id)
		p.logNumbers()
		s.partitions = append(s.partitions, p)
	}
	return s, nil
}

// logNumbers gives the caps their numbers in the partition's log.
func (p *partition) logNumbers() {
	assigned := new(event.ConfigObjectNumbersAssigned)
	for _, c := range p.sim.market.caps {
		assigned.Caps = append(assigned.Caps, event.CapNumberAssignment{Ref: c.Ref, Key: market.CapKey{
			Scope: c.Scope, Buyer: c.Ref, Unit: c.Unit, Period: c.Period, Zone: c.Zone.String(),
		}})
	}
	p.append(assigned, nil, nil)
	p.commitNext()
	p.lives++ // the planned commit has no entry any more
}

func (s *simulation) run() {
	for _, b := range s.market.buyers {
		if funds := b.funds(); funds != nil {
			s.topUp(funds)
		}
	}
	s.planOutages()
	s.at(s.start+int64(time.Second), s.arrive)
	s.at(s.end+int64(time.Hour), func() {
		if s.ended = len(s.queue) > 0; s.ended {
			s.audit.fault("an hour after the last lead, the partitions are still busy")
		}
	})
	s.runAll()
	s.audit.addUpLogs()
}

// topUp adds money to the buyer's account at its owner, and again after 20 minutes.
func (s *simulation) topUp(funds *resource) {
	p := s.partitions[funds.owner]
	if !p.crashed {
		topUp := &event.BuyerFundsAdjusted{Buyer: funds.buyer.Ref, Amount: funds.buyer.topUp, At: p.clock()}
		p.append(topUp, nil, func() { p.capacityFreed(funds) })
	}
	if next := s.now + int64(20*time.Minute); next < s.end {
		s.at(next, func() { s.topUp(funds) })
	}
}

// arrive starts one lead and plans the next one.
func (s *simulation) arrive() {
	s.figures.leads++
	c := s.market.drawCampaign(s.demand, time.Duration(s.now-s.start))
	if p := s.partitions[c.partition]; p.crashed {
		s.figures.lostLeads++
	} else {
		p.inFlight++
		p.sell(&lead{id: p.newID(), campaign: c})
	}
	if s.figures.leads < int64(s.Leads) {
		s.after(int64(s.demand.ExpFloat64()*float64(time.Second)/float64(s.Rate)), s.arrive)
	}
}

// maybeReturn lets the buyer return a few of the sold leads within five minutes.
func (s *simulation) maybeReturn(p *partition, sold *event.LeadDecided) {
	if s.network.random.IntN(100) < s.Returns {
		s.after(s.network.random.Int64N(int64(5*time.Minute)), func() { s.returnLead(p, sold) })
	}
}

func (s *simulation) returnLead(p *partition, sold *event.LeadDecided) {
	if p.crashed {
		s.after(int64(s.Outage), func() { s.returnLead(p, sold) })
		return
	}
	back := event.MoneyAndCapsReversedByReturn{Campaign: sold.Campaign, Month: s.month, Charges: sold.Sale.Charges}
	buyer := s.market.buyers[sold.Sale.Buyer-1]
	back.Credit = sold.Sale.Price
	p.append(&event.LeadStatusChangesDecided{Buyer: sold.Sale.Buyer, At: p.clock(), Changes: []event.DecidedLeadStatusChange{
		{Lead: sold.Lead, Result: event.ChangeDone, From: market.StatusAccepted, To: market.StatusReturned, Return: back},
	}}, nil, func() {
		s.figures.returned++
		for _, r := range buyer.resources {
			if r.owner == p.id {
				p.capacityFreed(r)
			} else if h := &p.holdings[r.index]; h.recalled && h.window == p.windowOf(r) {
				p.giveBack(r, h.window)
			}
		}
	})
}

// planOutages cuts a partition off from the others, or crashes it, in turn. A crash waits up to ten seconds for
// a transfer, which it then loses.
func (s *simulation) planOutages() {
	for i := range s.Outages {
		at := s.start + (s.end-s.start)*int64(2*i+1)/int64(2*s.Outages)
		p := s.partitions[s.network.random.IntN(s.Partitions)]
		s.at(at, func() {
			if p.cut || p.crashed {
				return
			}
			if i%2 == 0 {
				p.cut = true
				s.after(int64(s.Outage), func() { p.cut = false })
				return
			}
			p.crashAtTransfer = true
			p.later(s.now+int64(10*time.Second), s.crashOf(p))
		})
	}
}

// beforeCommit is shorter than any commit, and longer than the shortest delay of a message.
const beforeCommit = int64(900 * time.Microsecond)

// crashOf returns a function that crashes the partition and later restarts it.
func (s *simulation) crashOf(p *partition) func() {
	return func() {
		p.crashAtTransfer = false
		hash := p.crash()
		s.figures.crashes++
		s.after(int64(s.Outage), func() { p.restart(hash) })
	}
}

func (s *simulation) canReach(from, to int) bool {
	a, b := s.partitions[from], s.partitions[to]
	return !a.cut && !b.cut && !a.crashed && !b.crashed
}

// drawCommitTime returns the time until a majority has an entry on disk.
func (s *simulation) drawCommitTime() int64 {
	return int64(time.Millisecond) + s.network.random.Int64N(int64(time.Millisecond))
}
