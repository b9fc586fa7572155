package main

import (
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

func TestFactsAreLeadsThatMemoryKeeps(t *testing.T) {
	const n = 3000
	s, facts := state.New(), newFacts(time.Now().UnixNano())
	s.Apply(1, facts.now, facts.names())
	var decoder event.Decoder
	bytes := 0
	for i := range n {
		data := event.Append(nil, facts.lead(i))
		bytes += len(data)
		fact, err := decoder.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(uint64(i+2), facts.now, fact)
	}
	if s.LeadCount() != n || s.Reservations() != 0 {
		t.Errorf("%d leads, %d reservations", s.LeadCount(), s.Reservations())
	}
	if each := bytes / n; each < 550 || each > 750 {
		t.Errorf("an entry has %d bytes; a real one has about 640", each)
	}
	for buyer := market.Ref(1); buyer <= factBuyers; buyer++ {
		if balance, _ := s.Balance(buyer); balance >= 0 {
			t.Errorf("buyer %d bought nothing", buyer)
		}
	}
}

func TestFactsAreTheSameFromTheSameSeed(t *testing.T) {
	hash := func() uint64 {
		s, facts := state.New(), newFacts(1_700_000_000_000_000_000)
		s.Apply(1, facts.now, facts.names())
		for i := range 100 {
			s.Apply(uint64(i+2), facts.now, facts.lead(i))
		}
		_, sum := s.Hash()
		return sum
	}
	if a, z := hash(), hash(); a != z {
		t.Errorf("%x and %x", a, z)
	}
}

func TestMemoryIsWeighedAtEachStep(t *testing.T) {
	weighed, err := weigh(&memorySpec{Smallest: 8000, Largest: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(weighed.Leads) != 2 || weighed.Leads[0] != 8000 || weighed.Leads[1] != 9000 {
		t.Errorf("weighed at %v", weighed.Leads)
	}
	for i, each := range weighed.PerLead {
		if each < 150 || each > 2000 {
			t.Errorf("a lead of %d has %.0f bytes", weighed.Leads[i], each)
		}
	}
}

// TestPingsAreWeighed holds a ping without a campaign to less memory than one with.
func TestPingsAreWeighed(t *testing.T) {
	each := map[string]float64{}
	for _, vertical := range []string{"auto", "boats"} {
		weighed, err := weighPings(&pingMemorySpec{Vertical: vertical, memorySpec: memorySpec{Smallest: 60_000, Largest: 60_000}})
		if err != nil {
			t.Fatal(err)
		}
		each[vertical] = weighed.PerLead[0]
	}
	if each["boats"] < 48 || each["auto"] < each["boats"]+40 || each["auto"] > 2000 {
		t.Errorf("bytes of a ping: %v", each)
	}
}
