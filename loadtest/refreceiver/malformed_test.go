package refreceiver

import (
	"errors"
	"fmt"
	"io"
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
// and some of the others.
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
