//go:build unix

package witness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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

// eventsOf are what a lead's supplier is to hear of it where it stands; none:
// nothing yet.
func (e *entry) eventsOf() []string {
	sale := e.eventOf()
	if sale == "" {
		return nil
	}
	events := []string{sale}
	for _, status := range e.became {
		events = append(events, "lead."+status)
	}
	return events
}

// eventOf is the one of its sale.
func (e *entry) eventOf() string {
	switch {
	case e.standing == recorded, e.standing == delivered:
		return "lead.posted"
	case e.standing == unsold && e.promised:
		return "lead.post_failed"
	case e.standing == unsold:
		return "lead.unmatched"
	}
	return ""
}

// notified: the supplier has heard of no lead but those in the log, of each what
// became of it, under one id and in the same words; and, when all is delivered, of
// every one.
func (p *Picture) notified() (found findings) {
	if s := p.hooks; s.BadSignatures != 0 || s.Changed != 0 || s.Invalid != 0 {
		found.add("of the webhooks %d were not signed, %d were no events, %d said another thing under the same id", s.BadSignatures, s.Invalid, s.Changed)
	}
	heard := map[string]string{}
	for i := range p.events {
		event := &p.events[i]
		e := p.book.leads[event.Lead]
		switch {
		case e == nil:
			found.add("the supplier was told %s of lead %s, which is lost", event.Type, event.Lead)
			continue
		case !slices.Contains(e.eventsOf(), event.Type):
			found.add("the supplier was told %s of lead %s, which is %s", event.Type, event.Lead, e.standing)
		case e.test != event.Test:
			found.add("the supplier was told %s of lead %s as of a test: %t, and it is one: %t", event.Type, event.Lead, event.Test, e.test)
		}
		name := event.Type + " of lead " + event.Lead
		if other, twice := heard[name]; twice {
			found.add("the supplier was told %s as %s and as %s", name, other, event.ID)
		}
		heard[name] = event.ID
	}
	if !p.Drained {
		return found
	}
	for _, e := range p.book.leads {
		for _, want := range e.eventsOf() {
			if name := want + " of lead " + e.id; heard[name] == "" {
				found.add("the supplier was never told %s", name)
			}
		}
	}
	return found
}
