//go:build unix

package witness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"pingpost/loadtest/refbuyer"
)

// buyers are the processes that leads are posted to. They outlive every death
// of the exchange: what they were sold is in their memory alone.
type buyers struct {
	t         Clerk
	processes []*child
	mu        sync.Mutex
	endpoints map[string]string // those for tests apart, by a mark behind the buyer's name
}

func startBuyers(t Clerk, program string, terms *Terms, seed uint64) *buyers {
	t.Helper()
	b := &buyers{t: t, endpoints: map[string]string{}}
	for i := range terms.buyers {
		buyer := &terms.buyers[i]
		if !buyer.posting() {
			continue
		}
		b.start(program, buyer, buyer.id, seed+uint64(i))
		if buyer.rehearses {
			b.start(program, buyer, buyer.id+testMark, seed+uint64(len(terms.buyers)+i))
		}
	}
	Await(t, "the buyers listen", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.endpoints) == len(b.processes)
	})
	return b
}

// start starts one endpoint of a buyer.
func (b *buyers) start(program string, buyer *buyerTerms, name string, seed uint64) {
	b.t.Helper()
	bids := buyer.bids
	if bids == "" {
		bids = buyer.bid.String()
	}
	args := append([]string{"buyer", "--listen", "127.0.0.1:0", "--bid", bids, "--seed", fmt.Sprint(seed)}, buyer.args...)
	b.processes = append(b.processes, spawn(b.t, name, func(line string) {
		if _, address, ok := strings.Cut(line, "reference buyer on "); ok {
			b.mu.Lock()
			b.endpoints[name] = address
			b.mu.Unlock()
		}
	}, program, args...))
}

func (b *buyers) get(url string) *http.Response {
	b.t.Helper()
	response, err := client.Get(url)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

// Neighbors are the processes that the exchange deals with: buyers, and the receiver
// of webhooks. They may be held up; whoever is has to be let go before the next
// picture.
func (s *Scene) Neighbors() (pids []int) {
	for _, c := range append(s.buyers.processes[:len(s.buyers.processes):len(s.buyers.processes)], s.told.process) {
		pids = append(pids, c.cmd.Process.Pid)
	}
	return pids
}

// leads are what each endpoint holds.
func (b *buyers) leads() map[string][]refbuyer.Lead {
	b.t.Helper()
	held := map[string][]refbuyer.Lead{}
	for buyer, address := range b.endpoints {
		response := b.get(address + "/leads")
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			var lead refbuyer.Lead
			if err := json.Unmarshal(lines.Bytes(), &lead); err != nil {
				b.t.Fatal(err)
			}
			held[buyer] = append(held[buyer], lead)
		}
		if err := lines.Err(); err != nil {
			b.t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	return held
}

func (b *buyers) stats() map[string]refbuyer.Stats {
	b.t.Helper()
	all := map[string]refbuyer.Stats{}
	for buyer, address := range b.endpoints {
		response := b.get(address + "/stats")
		var stats refbuyer.Stats
		if err := json.NewDecoder(response.Body).Decode(&stats); err != nil {
			b.t.Fatal(err)
		}
		_ = response.Body.Close()
		all[buyer] = stats
	}
	return all
}
