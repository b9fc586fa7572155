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

// buyerProcesses are the buyer programs. They run on when the exchange dies, because they keep
// their leads in memory only.
type buyerProcesses struct {
	t         TB
	processes []*process
	mu        sync.Mutex
	endpoints map[string]string // URL by endpoint name; a test endpoint's name ends with testEndpointSuffix
}

func startBuyers(t TB, program string, config *Config, seed uint64) *buyerProcesses {
	t.Helper()
	b := &buyerProcesses{t: t, endpoints: map[string]string{}}
	for i := range config.buyers {
		buyer := &config.buyers[i]
		if !buyer.hasEndpoint() {
			continue
		}
		b.start(program, buyer, buyer.id, seed+uint64(i))
		if buyer.hasTestEndpoint {
			b.start(program, buyer, buyer.id+testEndpointSuffix, seed+uint64(len(config.buyers)+i))
		}
	}
	Await(t, "all buyer processes listen", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.endpoints) == len(b.processes)
	})
	return b
}

// start starts the process of one endpoint.
func (b *buyerProcesses) start(program string, buyer *buyerConfig, name string, seed uint64) {
	b.t.Helper()
	bids := buyer.bidRange
	if bids == "" {
		bids = buyer.bid.String()
	}
	args := append([]string{"buyer", "--listen", "127.0.0.1:0", "--bid", bids, "--seed", fmt.Sprint(seed)}, buyer.args...)
	b.processes = append(b.processes, startProcess(b.t, name, func(line string) {
		if _, address, ok := strings.Cut(line, "reference buyer on "); ok {
			b.mu.Lock()
			b.endpoints[name] = address
			b.mu.Unlock()
		}
	}, program, args...))
}

func (b *buyerProcesses) get(url string) *http.Response {
	b.t.Helper()
	response, err := client.Get(url)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

// PeerPIDs returns the processes of the buyers and the webhook receiver. A test may stop them
// with SIGSTOP and must continue them before the next audit.
func (s *Harness) PeerPIDs() (pids []int) {
	for _, c := range append(s.buyers.processes[:len(s.buyers.processes):len(s.buyers.processes)], s.receiver.process) {
		pids = append(pids, c.cmd.Process.Pid)
	}
	return pids
}

// leads returns the leads that each endpoint holds.
func (b *buyerProcesses) leads() map[string][]refbuyer.Lead {
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

func (b *buyerProcesses) stats() map[string]refbuyer.Stats {
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
