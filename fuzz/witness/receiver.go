//go:build unix

package witness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"pingpost/loadtest/refreceiver"
)

// receiver is the process that the supplier is told at. It outlives every death
// of the exchange: what it heard is in its memory alone.
type receiver struct {
	t       Clerk
	process *child
	mu      sync.Mutex
	address string
}

// startReceiver starts one that fails at random, breaks off and trickles: of these events
// half are taken before the failure, and come again with the same id.
func startReceiver(t Clerk, program string, terms *Terms, seed uint64) *receiver {
	t.Helper()
	latency := "1ms-10ms"
	if terms.full {
		latency += "+hang:0.005"
	}
	r := &receiver{t: t}
	r.process = spawn(t, "receiver", func(line string) {
		if _, address, ok := strings.Cut(line, "reference receiver on "); ok {
			r.mu.Lock()
			r.address = address
			r.mu.Unlock()
		}
	}, program, "receiver", "--listen", "127.0.0.1:0", "--secret", hookSecret, "--seed", fmt.Sprint(seed), "--fail-rate", "0.2", "--malformed-rate", "0.06", "--latency", latency)
	Await(t, "the receiver listens", func() bool { return r.at() != "" })
	return r
}

func (r *receiver) at() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// heard is what came, and the figures of it.
func (r *receiver) heard() (events []refreceiver.Event, stats refreceiver.Stats) {
	r.t.Helper()
	response := r.get("/stats")
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&stats); err != nil {
		r.t.Fatal(err)
	}
	list := r.get("/events")
	defer list.Body.Close()
	lines := bufio.NewScanner(list.Body)
	for lines.Scan() {
		var e refreceiver.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.t.Fatal(err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		r.t.Fatal(err)
	}
	return events, stats
}

func (r *receiver) get(path string) *http.Response {
	r.t.Helper()
	response, err := client.Get(r.at() + path)
	if err != nil {
		r.t.Fatal(err)
	}
	return response
}
