package main

import "math/rand/v2"

// messageKind says what a message between two partitions asks or reports.
type messageKind uint8

const (
	kindAsk       messageKind = iota // holder to owner: the holder needs an amount
	kindAnswer                       // owner to holder: the total of its grants, and a verdict
	kindRecall                       // owner to holder: give back all that is free
	kindGiveBack                     // holder to owner: the total that it gave back
	kindAvailable                    // owner to holder: a verdict "full" is no longer valid
	messageKinds
)

// verdict ends the wait of the leads that a grant does not serve.
type verdict uint8

const (
	verdictGranted verdict = iota // the totals have changed, or an early ask got no grant
	verdictFull                   // no partition has capacity left
	verdictShort                  // the rest is at a partition that does not answer
)

// message always carries the sender's totals for one resource, holder and window. Totals only grow in a
// window. So a message that is lost, late or doubled does no harm: the next one repairs the rest.
type message struct {
	kind     messageKind
	from, to int
	resource int
	window   int64
	totals
	want    want    // of an ask
	verdict verdict // of an answer
}

// totals are the amounts of one resource in one window that an owner granted to a holder, and that the
// holder gave back.
type totals struct{ granted, givenBack int64 }

// held returns the amount that the holder may use, or has used.
func (t totals) held() int64 { return t.granted - t.givenBack }

// network delivers messages after a random delay, in any order. It loses and doubles a few.
type network struct {
	sim    *simulation
	random *rand.Rand
	sent   [messageKinds]int64
	lost   int64
}

// Shares of messages, in a million.
const (
	lostPerMillion    = 100
	doubledPerMillion = 1000
)

func (n *network) send(m *message) {
	n.sent[m.kind]++
	if n.random.IntN(1_000_000) < lostPerMillion {
		n.lost++
		return
	}
	n.deliver(m)
	if n.random.IntN(1_000_000) < doubledPerMillion {
		n.deliver(m)
	}
}

// deliver hands the message over after its delay, if the network reaches both partitions then and now. A message
// survives a crash of its sender.
func (n *network) deliver(m *message) {
	opt := &n.sim.options
	if !n.sim.canReach(m.from, m.to) {
		n.lost++
		return
	}
	delay := int64(opt.MinDelay) + n.random.Int64N(int64(opt.MaxDelay-opt.MinDelay)+1)
	n.sim.after(delay, func() {
		if n.sim.partitions[m.from].cut || n.sim.partitions[m.to].cut || n.sim.partitions[m.to].crashed {
			n.lost++
			return
		}
		n.sim.partitions[m.to].receive(m)
	})
}

// total returns the number of messages of all kinds.
func (n *network) total() (sum int64) {
	for _, count := range n.sent {
		sum += count
	}
	return sum
}
