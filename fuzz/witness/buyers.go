//go:build unix

package witness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/refbuyer"
)

// peerProcess is the process of a buyer's endpoint or the webhook receiver. It runs on when the
// exchange dies, because it keeps its leads or events in memory only.
type peerProcess struct {
	*Process
	url string
}

// startPeer starts a pingpost command that listens and prints its address.
func startPeer(t testing.TB, program, name string, args ...string) *peerProcess {
	t.Helper()
	listening := make(chan string, 1)
	p := startProcess(t, name, func(line string) {
		if _, address, ok := strings.Cut(line, " on http://"); ok && strings.HasPrefix(line, "reference ") {
			listening <- "http://" + address
		}
	}, program, args...)
	select {
	case url := <-listening:
		return &peerProcess{p, url}
	case <-p.Ended:
		t.Fatal(p.exitReport())
	case <-time.After(patience):
		t.Fatalf("%s does not listen", name)
	}
	return nil
}

// buyerPeers are the buyers' endpoints by name; a test endpoint's name ends with
// testEndpointSuffix.
type buyerPeers map[string]*peerProcess

func startBuyers(t testing.TB, program string, config *Config, seed uint64) buyerPeers {
	t.Helper()
	all := buyerPeers{}
	start := func(b *buyerConfig, name string, seed uint64) {
		args := []string{"buyer", "--listen", config.peerListen(), "--bid", cmp.Or(b.bidRange, b.bid.String()), "--seed", fmt.Sprint(seed)}
		all[name] = startPeer(t, program, name, slices.Concat(args, b.args)...)
	}
	for i := range config.buyers {
		b := &config.buyers[i]
		if b.hasEndpoint() {
			start(b, b.id, seed+uint64(i))
		}
		if b.hasTestEndpoint {
			start(b, b.id+testEndpointSuffix, seed+uint64(len(config.buyers)+i))
		}
	}
	return all
}

// readAccounts returns the leads and the counters of each endpoint.
func (all buyerPeers) readAccounts(t testing.TB) (leads map[string][]refbuyer.Lead, counters map[string]refbuyer.Stats) {
	t.Helper()
	leads, counters = map[string][]refbuyer.Lead{}, map[string]refbuyer.Stats{}
	for name, p := range all {
		stats, held, err := refbuyer.FetchAccount(t.Context(), p.url)
		if err != nil {
			t.Fatal(err)
		}
		leads[name], counters[name] = held, stats
	}
	return leads, counters
}

// PeerPIDs returns the processes of the buyers and the webhook receiver. A test may stop them
// with SIGSTOP and must continue them before the next audit.
func (s *Harness) PeerPIDs() (pids []int) {
	for _, name := range slices.Sorted(maps.Keys(s.buyers)) {
		pids = append(pids, s.buyers[name].cmd.Process.Pid)
	}
	return append(pids, s.receiver.cmd.Process.Pid)
}
