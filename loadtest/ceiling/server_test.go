package ceiling

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/load"
	"pingpost/wal"
)

const (
	entrySize  = 640
	answerSize = 150
)

// start serves until the test ends, and returns its log.
func start(t *testing.T, opt wal.Options) (log *wal.Log, url string) {
	t.Helper()
	log, err := wal.Open(t.TempDir(), opt)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(Options{
		Log: log, Entry: entrySize, Answer: answerSize, Body: 64 << 10, Header: 16 << 10, Connections: 100,
		ReadTimeout: time.Second, WriteTimeout: time.Second, IdleTimeout: time.Second,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(), <-served); err != nil {
			t.Error(err)
		}
		_ = log.Close() // the log failed on purpose
	})
	return log, "http://" + listener.Addr().String()
}

func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

var leads = load.Leads{Supplier: "sup", Campaigns: []string{"cmp"}}

func TestAnAnswerMeansThatAsManyBytesAreDurable(t *testing.T) {
	log, url := start(t, wal.Options{})
	for n := range uint64(3) {
		status, answer := post(t, url, string(leads.AppendBody(nil, n)))
		if status != http.StatusCreated || len(answer) != answerSize || !strings.Contains(answer, `"ACCEPTED"`) {
			t.Fatalf("%d %q", status, answer)
		}
		if seq, _ := log.Durable(); seq != n+1 {
			t.Fatalf("answer %d came with %d entries durable", n+1, seq)
		}
	}
	reader, err := log.NewReader(1)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for n := range uint64(3) {
		entry, err := reader.Next()
		if err != nil || len(entry.Data) != entrySize || !bytes.HasPrefix(entry.Data, leads.AppendBody(nil, n)) {
			t.Fatalf("entry %d has %d bytes, %v", n+1, len(entry.Data), err)
		}
	}
}

func TestTheBodyIsDecoded(t *testing.T) {
	log, url := start(t, wal.Options{})
	for name, body := range map[string]string{
		"no JSON":     `{"first_name":`,
		"wrong type":  strings.Replace(string(leads.AppendBody(nil, 1)), `"vehicle_count":1`, `"vehicle_count":"one"`, 1),
		"not a lead":  `{}`,
		"no campaign": strings.Replace(string(leads.AppendBody(nil, 1)), "flo_campaign_id", "x", 1),
	} {
		if status, answer := post(t, url, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %q", name, status, answer)
		}
	}
	if seq, _ := log.Durable(); seq != 0 {
		t.Errorf("%d entries were committed", seq)
	}
}

func TestALogThatFailedIsNoAnswer(t *testing.T) {
	_, url := start(t, wal.Options{Faults: wal.Faults{Sync: func() error { return errors.New("the disk is gone") }}})
	for range 2 {
		if status, answer := post(t, url, string(leads.AppendBody(nil, 1))); status != http.StatusServiceUnavailable {
			t.Errorf("%d %q", status, answer)
		}
	}
}
