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

// streamServer is an admin server whose streams send the events of a test.
type streamServer struct {
	*Admin
	address string
	built   atomic.Int64
}

func newStreamServer(t *testing.T, event func(n int64) []byte) *streamServer {
	t.Helper()
	b := &streamServer{Admin: newAdmin(t, stubOperator{})}
	b.live = newLiveOverviewFeed(func() []byte { return event(b.built.Add(1)) })
	b.live.every = time.Millisecond
	b.address = servertest.StartServer(t, b.Serve, b.Shutdown)
	return b
}

func (b *streamServer) subscriberCount() int {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	return len(b.live.subscribers)
}

func numberedEvent(n int64) []byte { return formatServerSentEvent("n", fmt.Appendf(nil, "%d\n", n)) }

// stream requests a stream and reads its head.
func (b *streamServer) stream(t *testing.T, version string) (*servertest.RawClientConn, http.Header, io.Reader) {
	t.Helper()
	k := servertest.Dial(t, b.address)
	must.Value(io.WriteString(k, "GET /admin/v1/live HTTP/"+version+"\r\nHost: x\r\n"+servertest.BasicAuth+"\r\n"))(t)
	response, err := http.ReadResponse(k.Answer, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	t.Cleanup(func() {
		k.Close() // first, because closing the body would read the whole stream
		_ = response.Body.Close()
	})
	return k, response.Header, response.Body
}

// A subscriber gets each event once, also over HTTP/1.0. Events are not built after the
// last subscriber has left.
func TestLiveStreamSendsEachEventOnce(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		b := newStreamServer(t, numberedEvent)
		k, header, body := b.stream(t, version)
		if header.Get("Content-Type") != "text/event-stream" || header.Get("Cache-Control") != "no-store" || header.Get("X-Accel-Buffering") != "no" {
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
		servertest.WaitUntil(t, "no subscriber is left", func() bool { return b.subscriberCount() == 0 })
		servertest.WaitUntil(t, "the loop has ended", func() bool {
			b.live.mu.Lock()
			defer b.live.mu.Unlock()
			return !b.live.running
		})
		built := b.built.Load()
		time.Sleep(20 * time.Millisecond)
		if b.built.Load() != built {
			t.Error("events are built without subscribers")
		}
	}
}

// One event is built for all subscribers. A subscriber over the limit is rejected.
func TestLiveEventIsBuiltOnceForAllSubscribers(t *testing.T) {
	b := newStreamServer(t, numberedEvent)
	b.live.every = time.Hour
	var all []*servertest.RawClientConn
	for i := range maxSubscribers {
		s := b.live.addSubscriberOrNil(nil, strconv.Itoa(i/maxSubscribersPerName), nil, func() bool { return true })
		if s == nil {
			t.Fatal("a subscriber below the limit was rejected")
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
	if n := b.built.Load(); n != 4 {
		t.Errorf("built %d events for 3 subscribers and 1 rejected, want 4", n)
	}
	for _, k := range all {
		k.Close()
	}
}

// One name cannot use all streams.
func TestLiveStreamLimitPerName(t *testing.T) {
	b := newStreamServer(t, numberedEvent)
	open := func(name string) bool {
		return b.live.addSubscriberOrNil(nil, name, nil, func() bool { return true }) != nil
	}
	for range maxSubscribersPerName {
		if !open("wall") {
			t.Fatal("a subscriber below the limit was rejected")
		}
	}
	if open("wall") || !open("anna") {
		t.Error("want no further stream of this name, and one of another name")
	}
}

// The API document and the operators' page name the limits of streams.
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

// Streams end if there is no event, and at shutdown.
func TestLiveStreamEndsAtShutdown(t *testing.T) {
	var silent atomic.Bool
	b := newStreamServer(t, func(n int64) []byte {
		if silent.Load() {
			return nil
		}
		return numberedEvent(n)
	})
	_, _, stream := b.stream(t, "1.1")
	silent.Store(true)
	if _, err := io.ReadAll(stream); err != nil {
		t.Errorf("without events: got %v, want the end of the stream", err)
	}
	k := servertest.Dial(t, b.address)
	if status, _, body := k.Send(servertest.FormatRequest("GET /admin/v1/live", servertest.BasicAuth, "")); status != 503 {
		t.Errorf("without events: got %d %s, want 503", status, body)
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

// A connection that reads no events is closed, and other streams continue.
func TestLiveStreamClosesUnreadConn(t *testing.T) {
	large := formatServerSentEvent("n", bytes.Repeat([]byte("x"), 1<<20))
	b := newStreamServer(t, func(int64) []byte { return large })
	b.live.stallLimit = 10 * time.Second // the other stream must not stall for so long on a busy machine
	b.live.every = 20 * time.Millisecond // its reader has to copy all events of that time
	b.stream(t, "1.1")
	k, _, reads := b.stream(t, "1.1")
	must.Succeed(t, k.SetDeadline(time.Now().Add(time.Minute)))
	var received atomic.Int64
	go func() { // reads all events, so that its connection stays open
		for part := make([]byte, 1<<20); ; {
			n, err := reads.Read(part)
			if received.Add(int64(n)); err != nil {
				return
			}
		}
	}()
	servertest.WaitUntil(t, "the connection without reads is closed", func() bool { return b.subscriberCount() == 1 })
	before := received.Load()
	servertest.WaitUntil(t, "the other stream continues", func() bool { return received.Load() > before+16<<20 })
}

// A panic while the overview is built is counted as a fault.
func TestOverviewPanicEndsOnlyStream(t *testing.T) {
	faults := 0
	m := metrics.NewMeter(func(string, error) { faults++ })
	a := New(stubOperator{}, m, servertest.Password, slog.New(slog.DiscardHandler))
	a.overviews.admin = &Admin{meter: m} // without an operator, so that it panics
	if event := a.overviews.overviewEventOrNil(); event != nil || faults != 1 {
		t.Errorf("%q, %d faults", event, faults)
	}
}
