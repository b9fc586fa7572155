package ceiling

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/refbuyer"
	"pingpost/wal"
)

const outcomeSize = 90

// startPoster serves leads that are posted to a buyer until the test ends.
func startPoster(t *testing.T, buyer string) (log *wal.Log, url string) {
	t.Helper()
	log, err := wal.Open(t.TempDir(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(Options{
		Log: log, Entry: entrySize, Outcome: outcomeSize, Answer: answerSize, Buyer: buyer,
		Body: 64 << 10, Header: 16 << 10, Connections: 100,
		ReadTimeout: time.Second, WriteTimeout: time.Second, IdleTimeout: time.Second,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(), <-served, log.Close()); err != nil {
			t.Error(err)
		}
	})
	return log, "http://" + listener.Addr().String()
}

// send sends a lead under a key.
func send(t *testing.T, url, key string, n uint64) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(leads.AppendBody(nil, n))))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestALeadIsCommittedPostedAndCommitted(t *testing.T) {
	b := buyer(t, refbuyer.Options{})
	log, url := startPoster(t, b.Addr().String())
	for n := range uint64(3) {
		if status := send(t, url, "key-"+string(rune('a'+n)), n); status != http.StatusCreated {
			t.Fatalf("lead %d: status %d", n, status)
		}
		if seq, _ := log.Durable(); seq != 2*n+2 {
			t.Errorf("lead %d was answered with %d entries durable, two a lead were due", n, seq)
		}
	}
	if s := b.Stats(); s.Accepted != 3 || s.Invalid != 0 {
		t.Errorf("the buyer has taken %d leads, and found %d invalid", s.Accepted, s.Invalid)
	}
	reader, err := log.NewReader(1)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for n := range 6 {
		entry, err := reader.Next()
		if want := [...]int{entrySize, outcomeSize}[n%2]; err != nil || len(entry.Data) != want {
			t.Errorf("entry %d has %d bytes, want %d: %v", n+1, len(entry.Data), want, err)
		}
	}
}

func TestABuyerThatTakesNothingIsNoSale(t *testing.T) {
	b := buyer(t, refbuyer.Options{RejectRate: 1})
	log, url := startPoster(t, b.Addr().String())
	if status := send(t, url, "key", 1); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	if seq, _ := log.Durable(); seq != 1 {
		t.Errorf("%d entries are durable, the outcome among them", seq)
	}
}

func TestAPostIsJSON(t *testing.T) {
	var lead Lead
	if err := json.Unmarshal(leads.AppendBody(nil, 7), &lead); err != nil {
		t.Fatal(err)
	}
	var posted struct {
		Auction string `json:"auction_id"`
		Lead    struct {
			ID    string `json:"lead_uuid"`
			Phone string `json:"phone"`
		} `json:"lead"`
	}
	text := lead.appendPost(nil, []byte("key"))
	if err := json.Unmarshal(text, &posted); err != nil || posted.Auction != "key" || posted.Lead.ID != "key" || !regexp.MustCompile(`^\+1[0-9]{10}$`).MatchString(posted.Lead.Phone) {
		t.Errorf("%v: %s", err, text)
	}
}
