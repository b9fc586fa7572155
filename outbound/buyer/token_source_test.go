package buyer

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// mint is a token endpoint in virtual time: its tokens are t1, t2, … in the
// order in which they were asked for.
type fakeTokenEndpoint struct {
	life  time.Duration
	takes time.Duration // for one answer
	down  bool

	mu    sync.Mutex
	asked []time.Time
}

func (m *fakeTokenEndpoint) fetch(oauthClientKey) (fetchedToken, market.RequestFault) {
	m.mu.Lock()
	m.asked = append(m.asked, time.Now())
	token, down := fmt.Sprintf("t%d", len(m.asked)), m.down
	m.mu.Unlock()
	time.Sleep(m.takes)
	if down {
		return fetchedToken{}, market.FaultCredential
	}
	return fetchedToken{token, m.life}, market.FaultNone
}

func (m *fakeTokenEndpoint) times() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// within runs a test in virtual time on a grant of this mint.
func withSource(t *testing.T, m *fakeTokenEndpoint, f func(t *testing.T, g *tokenSource)) {
	synctest.Test(t, func(t *testing.T) {
		f(t, &tokenSource{fetch: m.fetch, now: time.Now})
		time.Sleep(time.Minute) // for what is under way to end
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
	m := &fakeTokenEndpoint{life: 1000 * time.Second, takes: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		begun := time.Now()
		var calling sync.WaitGroup
		for range 20 {
			calling.Go(func() { wantCredential(t, g, "t1") })
		}
		calling.Wait()
		if m.times() != 1 || time.Since(begun) != time.Second {
			t.Errorf("20 calls asked for %d tokens and waited for %v", m.times(), time.Since(begun))
		}
		time.Sleep(749*time.Second - time.Second)
		wantCredential(t, g, "t1")
		synctest.Wait()
		if m.times() != 1 {
			t.Error("it is fetched before three quarters of its life")
		}
		time.Sleep(101 * time.Second) // 850 s after it was asked for: whatever was drawn
		for range 5 {
			wantCredential(t, g, "t1") // at once, with the old one
		}
		if since := time.Since(begun); since != 850*time.Second {
			t.Errorf("a call waited for the next token: %v", since)
		}
		time.Sleep(time.Second)
		synctest.Wait() // the answer comes in this very instant
		wantCredential(t, g, "t2")
		if m.times() != 2 {
			t.Errorf("%d tokens were asked for", m.times())
		}
	})
}

func TestExpiredTokenIsNotSent(t *testing.T) {
	m := &fakeTokenEndpoint{life: 100 * time.Second, takes: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		time.Sleep(99*time.Second - time.Nanosecond) // its life began a second earlier, when it was asked for
		m.down = true
		wantCredential(t, g, "t1")
		time.Sleep(time.Nanosecond)
		wantCredential(t, g, "")
	})
}

func TestRenewalTimeIsRandom(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour}
	withSource(t, m, func(t *testing.T, _ *tokenSource) {
		moments := map[time.Duration]bool{}
		for range 20 {
			g := &tokenSource{fetch: m.fetch, now: time.Now}
			g.credential(time.Now().Add(time.Second))
			ahead := g.renewAt.Sub(g.requestedAt)
			if ahead < 45*time.Minute || ahead >= 51*time.Minute {
				t.Errorf("%v into an hour", ahead)
			}
			moments[ahead] = true
		}
		if len(moments) < 2 {
			t.Error("grants that began together renew together")
		}
	})
}

func TestEachCallHasItsOwnDeadline(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour, takes: 3 * time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		begun := time.Now()
		var calling sync.WaitGroup
		for _, row := range []struct {
			wait time.Duration
			want string
			at   time.Duration
		}{{time.Second, "", time.Second}, {2 * time.Second, "", 2 * time.Second}, {4 * time.Second, "t1", 3 * time.Second}, {-1, "", 0}} {
			calling.Go(func() {
				token, fault := g.credential(begun.Add(row.wait))
				if token != row.want || (fault == market.FaultNone) != (token != "") || time.Since(begun) != row.at {
					t.Errorf("with %v to wait: %q, %v after %v", row.wait, token, fault, time.Since(begun))
				}
			})
		}
		calling.Wait()
		if m.times() != 1 {
			t.Errorf("%d tokens were asked for", m.times())
		}
	})
}

// A token endpoint that is down is asked after 1, 2, 4, 8, 16, 30, 30 … seconds
// however many calls there are; and at once again when it has been well.
func TestFailingTokenEndpointBacksOff(t *testing.T) {
	m := &fakeTokenEndpoint{life: 100 * time.Second, down: true}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		begun := time.Now()
		for time.Since(begun) < 2*time.Minute {
			wantCredential(t, g, "")
			time.Sleep(100 * time.Millisecond)
		}
		var gaps []int
		for i := 1; i < len(m.asked); i++ {
			gaps = append(gaps, int(m.asked[i].Sub(m.asked[i-1]).Seconds()))
		}
		if got := fmt.Sprint(gaps); got != "[1 2 4 8 16 30 30]" {
			t.Errorf("seconds between requests: %s", got)
		}
		m.down = false
		time.Sleep(30 * time.Second)
		wantCredential(t, g, "t9")
		m.down = true
		time.Sleep(100 * time.Second)
		before := m.times()
		wantCredential(t, g, "")
		time.Sleep(time.Second)
		wantCredential(t, g, "")
		if m.times() != before+2 {
			t.Errorf("after a good one it begins anew: %d more", m.times()-before)
		}
	})
}

func TestRejectedTokenIsRenewedOnce(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour, takes: time.Second}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		time.Sleep(10 * time.Minute)
		var calling sync.WaitGroup
		for range 20 {
			calling.Go(func() {
				if !g.renewAfter401("t1", time.Now().Add(2*time.Second)) {
					t.Error("not renewed")
				}
			})
		}
		calling.Wait()
		if m.times() != 2 {
			t.Errorf("%d tokens were asked for", m.times())
		}
		wantCredential(t, g, "t2")
		begun := time.Now()
		if !g.renewAfter401("t1", begun) || m.times() != 2 || time.Since(begun) != 0 {
			t.Error("the answer to a token that was replaced meanwhile asks for another")
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
			t.Error("renewed by a failure")
		}
		wantCredential(t, g, "t1")
		m.takes = 5 * time.Second
		time.Sleep(time.Minute)
		if begun := time.Now(); g.renewAfter401("t1", begun.Add(time.Second)) || time.Since(begun) != time.Second {
			t.Errorf("waited for %v", time.Since(begun))
		}
	})
}

// A buyer that refuses every token costs its token endpoint no more than one
// that is down.
func TestRejectedNewTokensBackOff(t *testing.T) {
	m := &fakeTokenEndpoint{life: time.Hour}
	withSource(t, m, func(t *testing.T, g *tokenSource) {
		wantCredential(t, g, "t1")
		begun := time.Now()
		for time.Since(begun) < 2*time.Minute {
			token, _ := g.credential(time.Now().Add(time.Second))
			g.renewAfter401(token, time.Now().Add(time.Second))
			time.Sleep(100 * time.Millisecond)
		}
		var gaps []int
		for i := 1; i < len(m.asked); i++ {
			gaps = append(gaps, int(m.asked[i].Sub(m.asked[i-1]).Seconds()))
		}
		if got := fmt.Sprint(gaps); got != "[0 1 2 4 8 16 30 30]" {
			t.Errorf("seconds between requests: %s", got)
		}
		time.Sleep(10 * time.Minute)
		before := m.times()
		token, _ := g.credential(time.Now())
		if !g.renewAfter401(token, time.Now().Add(time.Second)) || m.times() != before+1 {
			t.Error("one that has served for minutes is renewed at once")
		}
	})
}
