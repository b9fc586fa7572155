package admin

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/api"
	"pingpost/internal/must"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// broadcast is an admin server whose streams send the events of a test.
type broadcast struct {
	*Admin
	address string
	told    atomic.Int64
}

func newBroadcast(t *testing.T, event func(n int64) []byte) *broadcast {
	t.Helper()
	b := &broadcast{Admin: newAdmin(t, stubOperator{})}
	b.live = newLiveEventFeed(func() []byte { return event(b.told.Add(1)) })
	b.live.every = time.Millisecond
	b.address = servertest.StartServer(t, b.Serve, b.Shutdown)
	return b
}

func (b *broadcast) listeners() int {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	return len(b.live.subscribers)
}

func numbered(n int64) []byte { return formatServerSentEvent("n", fmt.Appendf(nil, "%d\n", n)) }

// stream asks for a stream and reads its head.
func (b *broadcast) stream(t *testing.T, version string) (*servertest.Conn, http.Header, io.Reader) {
	t.Helper()
	k := servertest.Dial(t, b.address)
	must.Value(io.WriteString(k, "GET /admin/v1/live HTTP/"+version+"\r\nHost: x\r\n"+servertest.BasicAuth+"\r\n"))(t)
	response, err := http.ReadResponse(k.Answer, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	t.Cleanup(func() {
		k.Close() // or to close the body would be to hear it out
		_ = response.Body.Close()
	})
	return k, response.Header, response.Body
}

// TestLive checks that a subscriber receives each event once, also over HTTP/1.0, and that
// events are not built after it has left.
func TestLive(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		b := newBroadcast(t, numbered)
		k, header, body := b.stream(t, version)
		if header.Get("Content-Type") != "text/event-stream" || header.Get("Cache-Control") != "no-store" {
			t.Fatal(header)
		}
		lines, last := bufio.NewReader(body), int64(0)
		for range 20 {
			var n int64
			must.Value(fmt.Fscanf(lines, "event: n\ndata: %d\n\n", &n))(t)
			if n <= last {
				t.Fatalf("%d after %d", n, last)
			}
			last = n
		}
		k.Close()
		servertest.WaitUntil(t, "nobody listens", func() bool { return b.listeners() == 0 })
		servertest.WaitUntil(t, "nothing is made any more", func() bool {
			b.live.mu.Lock()
			defer b.live.mu.Unlock()
			return !b.live.running
		})
		told := b.told.Load()
		time.Sleep(20 * time.Millisecond)
		if b.told.Load() != told {
			t.Error("it is told while nobody listens")
		}
	}
}

// TestLiveIsMadeOnceForAll checks that one event serves all subscribers, and that one
// new subscriber over the limit is rejected.
func TestLiveIsMadeOnceForAll(t *testing.T) {
	b := newBroadcast(t, numbered)
	b.live.every = time.Hour
	var all []*servertest.Conn
	for i := range maxSubscribers {
		s := b.live.addSubscriber(nil, strconv.Itoa(i/maxSubscribersPerName), nil, func() bool { return true })
		if s == nil {
			t.Fatal("no place")
		}
	}
	k := servertest.Dial(t, b.address)
	if status, header, body := k.Send(servertest.FormatRequest("GET /admin/v1/live", servertest.BasicAuth, "")); status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("%d %v %s", status, header, body)
	}
	b.live.endAllStreams()
	for range 3 {
		k, _, _ := b.stream(t, "1.1")
		all = append(all, k)
	}
	if n := b.told.Load(); n != 4 {
		t.Errorf("made %d times for three listeners and one that was refused", n)
	}
	for _, k := range all {
		k.Close()
	}
}

// TestLiveIsNotOnes checks that one name cannot use all streams.
func TestLiveIsNotOnes(t *testing.T) {
	b := newBroadcast(t, numbered)
	open := func(name string) bool {
		return b.live.addSubscriber(nil, name, nil, func() bool { return true }) != nil
	}
	for range maxSubscribersPerName {
		if !open("wall") {
			t.Fatal("no place")
		}
	}
	if open("wall") || !open("anna") {
		t.Error("one more of the same is let in, or another is not")
	}
}

// TestLiveLimitsAreDocumented compares the limits of streams with the API document and
// the operators' page.
func TestLiveLimitsAreDocumented(t *testing.T) {
	page := must.Value(os.ReadFile("../../docs/admin-api.md"))(t)
	for name, row := range map[string]struct {
		text []byte
		want string
	}{
		"api/admin.yaml":    {api.AdminYAML(), "At most %d streams are open at once, and at most %d of one user"},
		"docs/admin-api.md": {page, "At most %d `live` streams are open at once, and at most %d of one user"},
	} {
		want := fmt.Sprintf(row.want, maxSubscribers, maxSubscribersPerName)
		if text := strings.Join(strings.Fields(string(row.text)), " "); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

// TestLiveEnds checks that streams end when there is no event, and at shutdown.
func TestLiveEnds(t *testing.T) {
	var silent atomic.Bool
	b := newBroadcast(t, func(n int64) []byte {
		if silent.Load() {
			return nil
		}
		return numbered(n)
	})
	_, _, stream := b.stream(t, "1.1")
	silent.Store(true)
	if _, err := io.ReadAll(stream); err != nil {
		t.Errorf("the stream did not end as it should: %v", err)
	}
	k := servertest.Dial(t, b.address)
	if status, _, body := k.Send(servertest.FormatRequest("GET /admin/v1/live", servertest.BasicAuth, "")); status != 503 {
		t.Errorf("with nothing to tell: %d %s", status, body)
	}
	silent.Store(false)
	_, _, stream = b.stream(t, "1.1")
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(stream)
		ended <- err
	}()
	if err := b.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestLiveLeavesWhoDoesNotRead: its connection is cut, and the others hear on.
func TestLiveLeavesWhoDoesNotRead(t *testing.T) {
	large := formatServerSentEvent("n", bytes.Repeat([]byte("x"), 1<<20))
	b := newBroadcast(t, func(int64) []byte { return large })
	b.live.stallLimit = 2 * time.Second
	b.stream(t, "1.1")
	_, _, reads := b.stream(t, "1.1")
	var heard atomic.Int64
	go func() { // for as long as it is told, or it would be cut off as well
		for part := make([]byte, 1<<20); ; {
			n, err := reads.Read(part)
			if heard.Add(int64(n)); err != nil {
				return
			}
		}
	}()
	servertest.WaitUntil(t, "who reads nothing is cut off", func() bool { return b.listeners() == 1 })
	before := heard.Load()
	servertest.WaitUntil(t, "the other hears on", func() bool { return heard.Load() > before+16<<20 })
}

// TestWhatGoesWrongEndsTheStreamAlone checks that a panic while the overview is built is
// counted as a fault.
func TestWhatGoesWrongEndsTheStreamAlone(t *testing.T) {
	faults := 0
	m := metrics.NewMeter(func(string, error) { faults++ })
	a := New(stubOperator{}, m, servertest.Password, slog.New(slog.DiscardHandler))
	a.overviews.admin = &Admin{meter: m} // which has no operator
	if event := a.overviews.overviewEvent(); event != nil || faults != 1 {
		t.Errorf("%q, %d faults", event, faults)
	}
}
