package buyer

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// fakeTokenEndpoint is a token endpoint in virtual time. Its tokens are t1, t2, … in the
// order of the requests.
type fakeTokenEndpoint struct {
	life  time.Duration
	delay time.Duration // of an answer
	down  bool

	mu       sync.Mutex
	requests []time.Time
}

func (m *fakeTokenEndpoint) fetch(oauthClientKey) (fetchedToken, market.OutboundRequestFault) {
	m.mu.Lock()
	m.requests = append(m.requests, time.Now())
	token, down := fmt.Sprintf("t%d", len(m.requests)), m.down
	m.mu.Unlock()
	time.Sleep(m.delay)
	if down {
		return fetchedToken{}, market.FaultCredential
	}
	return fetchedToken{token, m.life}, market.FaultNone
}

func (m *fakeTokenEndpoint) requestCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// withSource runs a test in virtual time with a token source of this endpoint.
func withSource(t *testing.T, m *fakeTokenEndpoint, f func(t *testing.T, g *tokenSource)) {
	synctest.Test(t, func(t *testing.T) {
		f(t, &tokenSource{fetch: m.fetch, now: time.Now})
		time.Sleep(time.Minute) // requests in flight end
	})
}

func wantCredential(t *testing.T, g *tokenSource, want string) {
	t.Helper()
	token, fault := g.credential(time.Now().Add(2 * time.Second))
	if token != want || (fault == market.FaultNone) != (want != "") {
		t.Errorf("got %q, %v; want %q", token, fault, want)
	}
}

func TestTokenIsFetchedOnceAndEarly(t *testing.T) {
	m := &fakeTokenEndpoint{life: 1000 * time.Second, delay: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		start := time.Now()
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() { wantCredential(t, g, "t1") })
		}
		calls.Wait()
		if m.requestCount() != 1 || time.Since(start) != time.Second {
			t.Errorf("20 calls requested %d tokens and waited for %v, want 1 and 1s", m.requestCount(), time.Since(start))
		}
		time.Sleep(749*time.Second - time.Second)
		wantCredential(t, g, "t1")
		synctest.Wait()
		if m.requestCount() != 1 {
			t.Error("the token was fetched again before three quarters of its life")
		}
		time.Sleep(101 * time.Second) // 850 s after the request, the latest random renewal time
		for range 5 {
			wantCredential(t, g, "t1") // at once, the old token
		}
		if since := time.Since(start); since != 850*time.Second {
			t.Errorf("a call waited for the next token: %v", since)
		}
		time.Sleep(time.Second)
		synctest.Wait() // the answer arrives now
		wantCredential(t, g, "t2")
		if m.requestCount() != 2 {
			t.Errorf("%d token requests", m.requestCount())
		}
	})
}

func TestExpiredTokenIsNotSent(t *testing.T) {
	m := &fakeTokenEndpoint{life: 100 * time.Second, delay: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		time.Sleep(99*time.Second - time.Nanosecond) // its life began at the request, a second earlier
		m.down = true
		wantCredential(t, g, "t1")
		time.Sleep(time.Nanosecond)
		wantCredential(t, g, "")
	})
}

func TestRenewalTimeIsRandom(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour}
	withSource(t, m, func(t *testing.T, _ *tokenSource) {
		renewals := map[time.Duration]bool{}
		for range 20 {
			g := &tokenSource{fetch: m.fetch, now: time.Now}
			g.credential(time.Now().Add(time.Second))
			after := g.renewAt.Sub(g.requestedAt)
			if after < 45*time.Minute || after >= 51*time.Minute {
				t.Errorf("token of an hour is renewed after %v, want 45 to 51 minutes", after)
			}
			renewals[after] = true
		}
		if len(renewals) < 2 {
			t.Error("20 token sources renew at the same time, want random times")
		}
	})
}

func TestEachCallHasItsOwnDeadline(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour, delay: 3 * time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		start := time.Now()
		var calls sync.WaitGroup
		for _, row := range []struct {
			wait time.Duration
			want string
			at   time.Duration
		}{{time.Second, "", time.Second}, {2 * time.Second, "", 2 * time.Second}, {4 * time.Second, "t1", 3 * time.Second}, {-1, "", 0}} {
			calls.Go(func() {
				token, fault := g.credential(start.Add(row.wait))
				if token != row.want || (fault == market.FaultNone) != (token != "") || time.Since(start) != row.at {
					t.Errorf("with %v to wait: %q, %v after %v", row.wait, token, fault, time.Since(start))
				}
			})
		}
		calls.Wait()
		if m.requestCount() != 1 {
			t.Errorf("%d token requests", m.requestCount())
		}
	})
}

// After failures the client waits 1, 2, 4, 8, 16, 30, 30 … seconds before the next token
// request, regardless of the number of calls. A success resets the wait.
func TestFailingTokenEndpointBacksOff(t *testing.T) {
	m := &fakeTokenEndpoint{life: 100 * time.Second, down: true}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		start := time.Now()
		for time.Since(start) < 2*time.Minute {
			wantCredential(t, g, "")
			time.Sleep(100 * time.Millisecond)
		}
		var gaps []int
		for i := 1; i < len(m.requests); i++ {
			gaps = append(gaps, int(m.requests[i].Sub(m.requests[i-1]).Seconds()))
		}
		if got := fmt.Sprint(gaps); got != "[1 2 4 8 16 30 30]" {
			t.Errorf("seconds between requests: %s", got)
		}
		m.down = false
		time.Sleep(30 * time.Second)
		wantCredential(t, g, "t9")
		m.down = true
		time.Sleep(100 * time.Second)
		before := m.requestCount()
		wantCredential(t, g, "")
		time.Sleep(time.Second)
		wantCredential(t, g, "")
		if m.requestCount() != before+2 {
			t.Errorf("after a success: %d more token requests, want 2", m.requestCount()-before)
		}
	})
}

func TestRejectedTokenIsRenewedOnce(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour, delay: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		time.Sleep(10 * time.Minute)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if !g.renewAfter401("t1", time.Now().Add(2*time.Second)) {
					t.Error("not renewed")
				}
			})
		}
		calls.Wait()
		if m.requestCount() != 2 {
			t.Errorf("%d token requests", m.requestCount())
		}
		wantCredential(t, g, "t2")
		start := time.Now()
		if !g.renewAfter401("t1", start) || m.requestCount() != 2 || time.Since(start) != 0 {
			t.Error("a 401 for an already replaced token requested another one")
		}
	})
}

func TestRejectedTokenIsUsedUntilReplaced(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		time.Sleep(10 * time.Minute)
		m.down = true
		if g.renewAfter401("t1", time.Now().Add(time.Second)) {
			t.Error("a failed fetch counts as a renewal")
		}
		wantCredential(t, g, "t1")
		m.delay = 5 * time.Second
		time.Sleep(time.Minute)
		if start := time.Now(); g.renewAfter401("t1", start.Add(time.Second)) || time.Since(start) != time.Second {
			t.Errorf("waited for %v", time.Since(start))
		}
	})
}

// A buyer that rejects every token causes no more token requests than an endpoint that
// is down.
func TestRejectedNewTokensBackOff(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		start := time.Now()
		for time.Since(start) < 2*time.Minute {
			token, _ := g.credential(time.Now().Add(time.Second))
			g.renewAfter401(token, time.Now().Add(time.Second))
			time.Sleep(100 * time.Millisecond)
		}
		var gaps []int
		for i := 1; i < len(m.requests); i++ {
			gaps = append(gaps, int(m.requests[i].Sub(m.requests[i-1]).Seconds()))
		}
		if got := fmt.Sprint(gaps); got != "[0 1 2 4 8 16 30 30]" {
			t.Errorf("seconds between requests: %s", got)
		}
		time.Sleep(10 * time.Minute)
		before := m.requestCount()
		token, _ := g.credential(time.Now())
		if !g.renewAfter401(token, time.Now().Add(time.Second)) || m.requestCount() != before+1 {
			t.Error("a token that worked for minutes must be renewed at once after a 401")
		}
	})
}
