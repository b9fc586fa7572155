package exchange

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// leadTraffic sends leads with their own keys from several clients until quit, or until the
// exchange closes. It keeps all answers.
type leadTraffic struct {
	mu      sync.Mutex
	answers map[int]*answer
	next    atomic.Int64
	quit    atomic.Bool
	clients sync.WaitGroup
}

func (l *leadTraffic) start(x *testExchange, clients int) {
	l.answers = make(map[int]*answer)
	for range clients {
		l.clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for !l.quit.Load() {
				number := int(l.next.Add(1))
				if !l.send(x, client, number) {
					return
				}
			}
		})
	}
}

// send reports whether the exchange still answers.
func (l *leadTraffic) send(x *testExchange, client *http.Client, number int) bool {
	a, _, err := x.requestWith(client, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", leadBody(number%10000),
		"X-Api-Key", acmeKey, "Content-Type", jsonType, "Idempotency-Key", fmt.Sprint("key", number))
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[number] = a
	return true
}

func (l *leadTraffic) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers)
}

// cappedConfig is baseConfig with a cap that fills under load.
const leadCap = 300

var cappedConfig = strings.Replace(baseConfig, "duplicates: {window: 0s}", fmt.Sprintf("caps: [{per: total, count: %d}]\n    duplicates: {window: 0s}", leadCap), 1)

// TestCloseUnderLoad: a restart repeats all answers, replays no entry and keeps the cap.
func TestCloseUnderLoad(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, cappedConfig))
	var l leadTraffic
	l.start(x, 8)
	eventually(t, "answers arrive", func() bool { return l.count() > leadCap/3 })
	before := len(x.logged.String())
	x.stop()
	l.clients.Wait()
	for number, a := range l.answers {
		switch a.status {
		case 201:
		case 503:
			a.mustFail(t, 503, "unavailable")
		default:
			t.Errorf("lead %d: %d %s", number, a.status, a.body)
		}
	}
	y := start(t, x.testDir)
	if lines := x.logged.String()[before:]; !strings.Contains(lines, "snapshot written") || !strings.Contains(lines, "clean=true") || !strings.Contains(lines, "entries=0") {
		t.Errorf("unexpected log lines: %s", lines)
	}
	sold := 0
	for number, a := range l.answers {
		again := y.ingest(leadBody(number%10000), "Idempotency-Key", fmt.Sprint("key", number))
		if a.status == 201 {
			again.mustBeReplayOf(t, a)
		}
		if strings.Contains(again.body, "ACCEPTED") {
			sold++
		}
	}
	for number := range leadCap {
		if strings.Contains(y.ingest(leadBody(number)).body, "ACCEPTED") {
			sold++
		}
	}
	// Leads without an answer may be sold too.
	unanswered := int(l.next.Load()) - len(l.answers)
	if sold > leadCap || sold+unanswered < leadCap {
		t.Errorf("%d sold and %d unanswered leads under a cap of %d", sold, unanswered, leadCap)
	}
	y.checkMetrics("pingpost_reservations 0")
}

// TestCrashUnderLoad: the copied files have all leads that were acknowledged before, and the cap
// holds.
func TestCrashUnderLoad(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, cappedConfig))
	var l leadTraffic
	l.start(x, 8)
	eventually(t, "answers arrive", func() bool { return l.count() > leadCap/3 })
	l.mu.Lock()
	answered := make(map[int]*answer)
	for number, a := range l.answers {
		answered[number] = a
	}
	l.mu.Unlock()
	crashed := x.copyFiles(t)
	l.quit.Store(true)
	l.clients.Wait()
	y := start(t, crashed)
	for number, a := range answered {
		if a.status == 201 {
			y.ingest(leadBody(number%10000), "Idempotency-Key", fmt.Sprint("key", number)).mustBeReplayOf(t, a)
		}
	}
	for number := range leadCap {
		y.ingest(leadBody(number))
	}
	y.checkMetrics("pingpost_reservations 0")
	if a := y.ingest(leadBody(1)); !strings.Contains(a.body, "caps_full") {
		t.Errorf("lead above the cap: got %v", a.body)
	}
}

// TestCloseWaitsForOpenRequest: a request in delivery gets its answer during the stop.
func TestCloseWaitsForOpenRequest(t *testing.T) {
	t.Parallel()
	posted, release := make(chan struct{}), make(chan struct{})
	blue := newFakeBuyer(t, func(w http.ResponseWriter, r *http.Request) {
		close(posted)
		<-release
		reply(201, "{}")(w, r)
	})
	x := start(t, newTestDir(t, deliveryConfig(blue, newFakeBuyer(t))))
	var a *answer
	var done sync.WaitGroup
	done.Go(func() { a = x.ingest(leadBody(1)) })
	<-posted
	done.Go(x.stop)
	eventually(t, "the exchange is stopping", func() bool { return errors.Is(x.Ready(), errDraining) })
	close(release)
	done.Wait()
	a.mustHave(t, 201, "ACCEPTED")
	start(t, x.testDir).mustAdmin(200, "GET", "/admin/v1/hash", "")
}
