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

// traffic sends leads, each under a key of its own, from several clients until it
// is told to stop or the exchange is gone. It keeps every answer.
type traffic struct {
	mu      sync.Mutex
	answers map[int]*answer
	next    atomic.Int64
	quit    atomic.Bool
	clients sync.WaitGroup
}

func (l *traffic) start(x *running, clients int) {
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

// send tells whether the exchange still answers.
func (l *traffic) send(x *running, client *http.Client, number int) bool {
	a, _, err := x.request(client, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", lead(number%10000),
		"X-Api-Key", acmeKey, "Content-Type", typeIsOwn, "Idempotency-Key", fmt.Sprint("key", number))
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[number] = a
	return true
}

func (l *traffic) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers)
}

// capped is recorded with a cap that ends amid the load.
const most = 300

var capped = strings.Replace(recorded, "duplicates: {window: 0s}", fmt.Sprintf("caps: [{per: total, count: %d}]\n    duplicates: {window: 0s}", most), 1)

// TestCloseUnderLoad: every request that was answered is remembered, none was
// cut off, a restart has nothing to replay, and the cap counts on.
func TestCloseUnderLoad(t *testing.T) {
	x := start(t, newPlace(t, capped))
	var l traffic
	l.start(x, 8)
	eventually(t, "there is load", func() bool { return l.count() > most/3 })
	before := len(spoken.String())
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
	y := start(t, x.place)
	if said := spoken.String()[before:]; !strings.Contains(said, "snapshot written") || !strings.Contains(said, "clean=true") || !strings.Contains(said, "entries=0") {
		t.Errorf("said %s", said)
	}
	sold := 0
	for number, a := range l.answers {
		again := y.ingest(lead(number%10000), "Idempotency-Key", fmt.Sprint("key", number))
		if a.status == 201 {
			again.isReplayOf(t, a)
		}
		if strings.Contains(again.body, "ACCEPTED") {
			sold++
		}
	}
	for number := range most {
		if strings.Contains(y.ingest(lead(number)).body, "ACCEPTED") {
			sold++
		}
	}
	// Those whose client heard nothing may have been sold too.
	unheard := int(l.next.Load()) - len(l.answers)
	if sold > most || sold+unheard < most {
		t.Errorf("%d sold and %d unheard of, under a cap of %d", sold, unheard, most)
	}
	y.measures("pingpost_reservations 0")
}

// TestCrashUnderLoad: what was acknowledged before the instant of the copy is
// in the copy, and the cap holds.
func TestCrashUnderLoad(t *testing.T) {
	x := start(t, newPlace(t, capped))
	var l traffic
	l.start(x, 8)
	eventually(t, "there is load", func() bool { return l.count() > most/3 })
	l.mu.Lock()
	heard := make(map[int]*answer)
	for number, a := range l.answers {
		heard[number] = a
	}
	l.mu.Unlock()
	crashed := x.copy(t)
	l.quit.Store(true)
	l.clients.Wait()
	y := start(t, crashed)
	for number, a := range heard {
		if a.status == 201 {
			y.ingest(lead(number%10000), "Idempotency-Key", fmt.Sprint("key", number)).isReplayOf(t, a)
		}
	}
	for number := range most {
		y.ingest(lead(number))
	}
	y.measures("pingpost_reservations 0")
	if a := y.ingest(lead(1)); !strings.Contains(a.body, "caps_full") {
		t.Error(a.body)
	}
}

// TestCloseWaitsForTheAnswer: a request whose buyer takes its time is answered,
// though the exchange is stopping.
func TestCloseWaitsForTheAnswer(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	blue := newTaker(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-release
		says(201, "{}")(w, r)
	})
	x := start(t, newPlace(t, delivered(blue, newTaker(t))))
	var a *answer
	var done sync.WaitGroup
	done.Go(func() { a = x.ingest(lead(1)) })
	<-asked
	done.Go(x.stop)
	eventually(t, "it is stopping", func() bool { return errors.Is(x.Ready(), errDraining) })
	close(release)
	done.Wait()
	a.mustHave(t, 201, "ACCEPTED")
	start(t, x.place).must(200, "GET", "/admin/v1/hash", "")
}
