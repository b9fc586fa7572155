package refreceiver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"
)

// heard is an answer as a client sees it that waits for all of it.
func heard(t *testing.T, base, id string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	p := parcel(t, id, "lead.posted")
	u, err := url.Parse(base + "/hooks")
	if err != nil {
		return err.Error()
	}
	p.URL = u
	began := time.Now()
	response, err := client.Do(p)
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "broken off"
	case err != nil:
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	pace := "at once"
	if time.Since(began) > time.Second { // by its pauses alone, on any machine
		pace = "slowly"
	}
	return fmt.Sprintf("%d %q %s %v", response.StatusCode, text, pace, err)
}

// together makes all deliveries concurrently, and counts the answers.
func together(t *testing.T, base string, deliveries int) map[string]int {
	t.Helper()
	answers := make(chan string)
	for i := range deliveries {
		go func() { answers <- heard(t, base, fmt.Sprint("evt_", i)) }()
	}
	counted := map[string]int{}
	for range deliveries {
		counted[<-answers]++
	}
	return counted
}

// TestMalformed: each malformed answer occurs. Events with a complete head are accepted,
// and
// some of the others.
func TestMalformed(t *testing.T) {
	const deliveries = 40
	r, base := start(t, Options{Seed: 1, MalformedRate: 1})
	counted := together(t, base, deliveries)
	surely := counted[fmt.Sprintf("200 %q slowly <nil>", slowBodyText)]
	if len(counted) != 3 || counted["broken off"] == 0 || counted[`204 "" slowly <nil>`] == 0 || surely == 0 {
		t.Errorf("answers: %v", counted)
	}
	s := r.Stats()
	if s.Malformed != deliveries || s.Acknowledged != 0 || s.Distinct <= int64(surely) || s.Distinct >= deliveries {
		t.Errorf("%d are certain, and %+v", surely, s)
	}
}

// TestMalformedByTheSeed: the same seed gives the same share; each attempt draws again.
func TestMalformedByTheSeed(t *testing.T) {
	fates := func(seed uint64) (text string, bad int) {
		r := &Receiver{options: Options{Seed: seed, MalformedRate: 0.5}}
		for i := range 100 {
			for attempt := range 3 {
				m, ok := r.drawMalformation(&delivery{id: fmt.Sprint("evt_", i)}, attempt+1)
				if ok {
					bad++
				}
				text += fmt.Sprint(m, ok, " ")
			}
		}
		return text, bad
	}
	one, bad := fates(1)
	again, _ := fates(1)
	other, _ := fates(2)
	if one != again || one == other || bad < 120 || bad > 180 {
		t.Errorf("%d of 300 are bad; the same again: %v; the same by another seed: %v", bad, one == again, one == other)
	}
}

// TestTrickleEndsWithTheReceiver: Close ends slow answers.
func TestTrickleEndsWithTheReceiver(t *testing.T) {
	r, _ := start(t, Options{})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ours, theirs := net.Pipe()
	go func() {
		r.Trickle(ours, []byte(slowBodyText))
		ours.Close()
	}()
	if came, err := io.ReadAll(theirs); err != nil || string(came) != slowBodyText[:1] {
		t.Errorf("%q, %v", came, err)
	}
}
