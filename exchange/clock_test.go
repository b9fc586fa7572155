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

// newDirWithLogAge returns a folder whose log has one entry of that age; a negative age is in the
// future.
func newDirWithLogAge(t *testing.T, config string, ago time.Duration) testDir {
	t.Helper()
	p := newTestDir(t, config)
	must.Succeed(t, os.Mkdir(p.dataDir(), 0o700))
	key := must.Value(vault.OpenExchangeKey(p.dataDir(), true))(t)
	at := time.Now().Add(-ago).UnixNano()
	log := must.Value(wal.Open(p.dataDir(), wal.Options{Now: func() int64 { return at }}))(t)
	founded := event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: key.KeyFingerprint(), At: at}
	must.Succeed(t, log.Append(event.AppendRecord(nil, &founded), nil))
	must.Succeed(t, log.Close())
	return p
}

// startAcceptingClock starts with --accept-clock.
func startAcceptingClock(t testing.TB, p testDir) *testExchange {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.options.AcceptClock = true })
}

// TestStartRejectsClockFarFromLog: unless --accept-clock is set.
func TestStartRejectsClockFarFromLog(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		ago   time.Duration
		err   string // empty: it starts
		warns bool
	}{
		"eight days ago":  {8 * day, "past the log's last entry", false},
		"six days ago":    {6 * day, "", false},
		"in half an hour": {-30 * time.Minute, "", true},
		"in two hours":    {-2 * time.Hour, "behind the log's last entry", true},
		"in thirty days":  {-30 * day, "behind the log's last entry", true},
		"now":             {0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newDirWithLogAge(t, baseConfig, row.ago)
			before := len(p.logged.String())
			if row.err != "" {
				mustNotStart(t, p, row.err)
				mustNotStart(t, p, "--accept-clock")
				startAcceptingClock(t, p).stop()
			}
			if row.ago > 0 || row.err == "" {
				start(t, p).mustSell(leadBody(1)) // needs no flag any more
			}
			lines := p.logged.String()[before:]
			if warned := strings.Contains(lines, "the clock is behind the log's last entry"); warned != row.warns {
				t.Errorf("clock warning logged: %v, want %v", warned, row.warns)
			}
		})
	}
}

// TestClockLimits: the limits are exact, and the error has both times.
func TestClockLimits(t *testing.T) {
	t.Parallel()
	logged := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for past, refused := range map[time.Duration]bool{
		0: false, maxClockAhead - 1: false, maxClockAhead: true, -maxClockBehind: false, -maxClockBehind - 1: true, 100 * maxClockAhead: true, -100 * maxClockAhead: true,
	} {
		err := checkClockNearLastEntry(past, logged.UnixNano())
		if (err != nil) != refused {
			t.Errorf("clock %v past the log: got %v, want an error: %v", past, err, refused)
		}
		if err == nil {
			continue
		}
		for _, want := range []string{"--accept-clock", logged.Format(time.RFC3339), logged.Add(past).Format(time.RFC3339)} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("clock %v past the log: error lacks %q: %v", past, want, err)
			}
		}
	}
}

// TestClockContinuesFromLogTime: if the log ends in the future, the clock continues from there.
// Keys expire by that clock.
func TestClockContinuesFromLogTime(t *testing.T) {
	t.Parallel()
	p := newDirWithLogAge(t, baseConfig, -60*24*time.Hour)
	x := startAcceptingClock(t, p)
	_, logged := x.log.LastEntry()
	if now := x.clock.Now(); now < logged {
		t.Fatalf("exchange's clock is %v behind its log", time.Duration(logged-now))
	}
	first := x.mustSell(leadBody(1), "Idempotency-Key", "k")
	for n := range 1500 { // each request removes some expired keys
		x.mustSell(leadBody(n), "Idempotency-Key", fmt.Sprint("other", n))
	}
	x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
	x.stop()
	mustNotStart(t, p, "--accept-clock")
	y := startAcceptingClock(t, p)
	y.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
}

// TestPostTimeoutIgnoresClockOffset: a post times out although the exchange's clock is far ahead.
func TestPostTimeoutIgnoresClockOffset(t *testing.T) {
	t.Parallel()
	blue := newFakeBuyer(t, hang)
	text := strings.Replace(deliveryConfig(blue, newFakeBuyer(t)), `auth: {bearer`, `post_timeout: 200ms, auth: {bearer`, 1)
	x := startAcceptingClock(t, newDirWithLogAge(t, text, -60*24*time.Hour))
	x.mustSell(leadBody(1))
	eventually(t, "the post is repeated", func() bool { return len(blue.received()) == 2 })
}
