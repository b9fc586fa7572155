//go:build unix

package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"pingpost/loadtest/refbuyer"
)

// buyerProcesses are the buyer programs. They run on when the exchange dies, because they keep
// their leads in memory only.
type buyerProcesses struct {
	t         TB
	processes []*Process
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

// fetchAll returns the JSON values at a URL, one after another.
func fetchAll[T any](t TB, url string) (all []T) {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for values := json.NewDecoder(response.Body); ; {
		var value T
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("GET %s: %v", url, err)
		}
		all = append(all, value)
	}
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
		held[buyer] = fetchAll[refbuyer.Lead](b.t, address+"/leads")
	}
	return held
}

func (b *buyerProcesses) stats() map[string]refbuyer.Stats {
	b.t.Helper()
	all := map[string]refbuyer.Stats{}
	for buyer, address := range b.endpoints {
		all[buyer] = fetchAll[refbuyer.Stats](b.t, address+"/stats")[0]
	}
	return all
}
