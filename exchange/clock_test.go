package exchange

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// begun is a place whose log has one entry, of so long ago; of a time to come
// where ago is negative.
func begun(t *testing.T, config string, ago time.Duration) place {
	t.Helper()
	p := newPlace(t, config)
	must.Succeed(t, os.Mkdir(p.data(), 0o700))
	key := must.Value(vault.Open(p.data(), true))(t)
	at := time.Now().Add(-ago).UnixNano()
	log := must.Value(wal.Open(p.data(), wal.Options{Now: func() int64 { return at }}))(t)
	founded := event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: key.KeyFingerprint(), At: at}
	must.Succeed(t, log.Append(event.AppendRecord(nil, &founded), nil))
	must.Succeed(t, log.Close())
	return p
}

// accepting starts with --accept-clock.
func accepting(t testing.TB, p place) *running {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.options.AcceptClock = true })
}

// TestClockLeap: a log that ends long ago, or in times to come, is not gone on
// with by chance.
func TestClockLeap(t *testing.T) {
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		ago   time.Duration
		wants string // what the refusal says; empty: none
		warns bool
	}{
		"eight days ago":  {8 * day, "past the log's last entry", false},
		"six days ago":    {6 * day, "", false},
		"in half an hour": {-30 * time.Minute, "", true},
		"in two hours":    {-2 * time.Hour, "behind the log's last entry", true},
		"in thirty days":  {-30 * day, "behind the log's last entry", true},
		"as good as now":  {0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := begun(t, recorded, row.ago)
			before := len(spoken.String())
			if row.wants != "" {
				refuses(t, p, row.wants)
				refuses(t, p, "--accept-clock")
				accepting(t, p).stop()
			}
			if row.ago > 0 || row.wants == "" {
				start(t, p).sold(lead(1)) // once is enough
			}
			said := spoken.String()[before:]
			if warned := strings.Contains(said, "the clock is behind the log's last entry"); warned != row.warns {
				t.Errorf("warned: %v, want %v", warned, row.warns)
			}
		})
	}
}

// TestClockIsJudged, to the nanosecond, and what is said has both times in it.
func TestClockIsJudged(t *testing.T) {
	logged := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for past, refused := range map[time.Duration]bool{
		0: false, maxClockAhead - 1: false, maxClockAhead: true, -maxClockBehind: false, -maxClockBehind - 1: true, 100 * maxClockAhead: true, -100 * maxClockAhead: true,
	} {
		err := checkClockNearLastEntry(past, logged.UnixNano())
		if (err != nil) != refused {
			t.Errorf("%v: %v", past, err)
		}
		if err == nil {
			continue
		}
		for _, want := range []string{"--accept-clock", logged.Format(time.RFC3339), logged.Add(past).Format(time.RFC3339)} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: not a word of %q: %v", past, want, err)
			}
		}
	}
}

// TestTimeGoesOnFromTheLog: behind a log of times to come the exchange's own clock
// goes on from there. By it keys expire, and by the log's time they are swept.
func TestTimeGoesOnFromTheLog(t *testing.T) {
	p := begun(t, recorded, -60*24*time.Hour)
	x := accepting(t, p)
	_, logged := x.log.Durable()
	if now := x.clock.Now(); now < logged {
		t.Fatalf("the exchange's clock is %v behind its log", time.Duration(logged-now))
	}
	first := x.sold(lead(1), "Idempotency-Key", "k")
	for n := range 1500 { // each sweeps a little
		x.sold(lead(n), "Idempotency-Key", fmt.Sprint("other", n))
	}
	x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
	x.stop()
	refuses(t, p, "--accept-clock")
	y := accepting(t, p)
	y.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
}

// TestDeadlinesAreReal: a post is given up in time though the exchange's clock is
// far ahead of the network's.
func TestDeadlinesAreReal(t *testing.T) {
	blue := newTaker(t, hangs)
	text := strings.Replace(delivered(blue, newTaker(t)), `auth: {bearer`, `post_timeout: 200ms, auth: {bearer`, 1)
	x := accepting(t, begun(t, text, -60*24*time.Hour))
	x.sold(lead(1))
	eventually(t, "the post is tried again", func() bool { return len(blue.got()) == 2 })
}
