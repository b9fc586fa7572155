//go:build unix

package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pingpost/loadtest/refreceiver"
)

// receiver is the process that the supplier is told at. It outlives every death
// of the exchange: what it heard is in its memory alone.
type receiver struct {
	t       *testing.T
	mu      sync.Mutex
	address string
}

// startReceiver starts one that fails at random: of these events half are taken
// before the failure, and come again with the same id.
func startReceiver(t *testing.T, program string, seed uint64) *receiver {
	t.Helper()
	r := &receiver{t: t}
	spawn(t, "receiver", func(line string) {
		if _, address, ok := strings.Cut(line, "reference receiver on "); ok {
			r.mu.Lock()
			r.address = address
			r.mu.Unlock()
		}
	}, program, "receiver", "--listen", "127.0.0.1:0", "--secret", hookSecret, "--seed", fmt.Sprint(seed), "--fail-rate", "0.2", "--latency", "1ms-10ms")
	await(t, "the receiver listens", func() bool { return r.at() != "" })
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

// drain has every event delivered that is owed. What failed would be tried again
// after a minute, and then after six; an operator does not have to wait: switched
// off, what waits becomes dead letters, and these are resent.
func (s *scene) drain() {
	s.t.Helper()
	const webhook = "/admin/v1/webhooks/" + supplier
	owed := func() (n int) {
		var standing struct{ Pending, Dead int }
		s.ask(webhook, &standing)
		return standing.Pending + standing.Dead
	}
	must := func(what string) {
		if status, text, err := s.operate("POST", webhook+what, ""); err != nil || status > 299 {
			s.t.Fatalf("%s: %d %s %v", what, status, text, err)
		}
	}
	await(s.t, "every event is delivered", func() bool {
		if owed() == 0 {
			return true
		}
		must("/off")
		must("/on")
		must("/resend")
		left := owed()
		await(s.t, "what was resent is tried", func() bool {
			now := owed()
			stuck := now == left
			left = now
			return now == 0 || stuck
		})
		return false
	})
}
