package buyer

import (
	"math/rand/v2"
	"sync"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/timer"
)

const (
	maxGrants = 4096 // that are remembered; see maxTargets

	// Where fetching a token fails, or what was fetched is refused at once, the
	// next try waits: this long, and twice as long each time up to the longest.
	firstWait   = time.Second
	longestWait = 30 * time.Second

	// youth is until what age a token's refusal speaks against the next one: it
	// was not time that made it bad.
	youth = time.Minute
)

// grantKey is one OAuth client at one token endpoint.
type grantKey struct {
	client market.OAuthClient
	secret string // its name
}

// grants remembers them, so that pings and posts of one client share a token.
type grants struct {
	fetch func(grantKey) (granted, market.Fault)
	now   func() time.Time

	mu    sync.Mutex // guards byKey
	byKey map[grantKey]*grant
}

func (gs *grants) of(key grantKey) *grant {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if g := gs.byKey[key]; g != nil {
		return g
	}
	if gs.byKey == nil || len(gs.byKey) >= maxGrants {
		gs.byKey = map[grantKey]*grant{}
	}
	g := &grant{key: key, fetch: gs.fetch, now: gs.now}
	gs.byKey[key] = g
	return g
}

// granted is a token as its endpoint gave it.
type granted struct {
	token string
	life  time.Duration
}

// grant is the token of one OAuth client, shared by all calls that present it.
//
// At most one request for a token is under way, in a goroutine of its own and
// bounded by its own time. Calls that need its outcome wait for it, each until
// its own deadline, and one that gives up takes nothing from the others.
//
// A token is fetched ahead of its end: the first call after about four fifths of
// its life begins that, and calls go on with the old one until the new one is
// there. About: the exact moment is drawn, so that clients that began together
// part. Nothing is fetched for a buyer that nobody calls, and there is no timer.
//
// A 401 speaks against the token that was presented. Unless another one has come
// since, a new one is fetched, and the refused one stays meanwhile: the 401 may
// be the lapse of one machine among many. A token refused young was not too old,
// so a fresh one will hardly help; then fetching waits, longer each time, just
// as it does after a failure. So neither a token endpoint that is down nor a
// buyer that takes no token is hammered.
type grant struct {
	key   grantKey
	fetch func(grantKey) (granted, market.Fault)
	now   func() time.Time

	mu       sync.Mutex    // guards what follows
	token    string        // empty: none yet
	since    time.Time     // when it was asked for
	ahead    time.Time     // from when on the next one is fetched
	until    time.Time     // its end
	refused  bool          // it met a 401
	refusals int           // tokens refused young, in a row
	failures int           // fetches failed, in a row
	earliest time.Time     // of the next fetch
	fetching chan struct{} // closed when the fetch under way is over; nil: none is
}

func (g *grant) present(deadline time.Time) (string, market.Fault) {
	g.mu.Lock()
	now := g.now()
	if g.usableLocked(now) {
		if !now.Before(g.ahead) {
			g.beginLocked(now)
		}
		token := g.token
		g.mu.Unlock()
		return token, market.FaultNone
	}
	over := g.beginLocked(now)
	g.mu.Unlock()
	if over == nil || !await(over, deadline) {
		return "", market.FaultCredential
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.usableLocked(g.now()) {
		return "", market.FaultCredential
	}
	return g.token, market.FaultNone
}

func (g *grant) usableLocked(now time.Time) bool { return g.token != "" && now.Before(g.until) }

func (g *grant) renew(refused string, deadline time.Time) bool {
	g.mu.Lock()
	if g.token != refused {
		g.mu.Unlock()
		return true
	}
	now := g.now()
	if !g.refused {
		g.refused = true
		if now.Sub(g.since) >= youth {
			g.refusals = 0
		}
		g.earliest = later(g.earliest, g.since.Add(waitAfter(g.refusals)))
		g.refusals++
	}
	over := g.beginLocked(now)
	g.mu.Unlock()
	if over == nil || !await(over, deadline) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.token != refused
}

// beginLocked gives the fetch that is under way, or begins one; nil where it is
// too early for that.
func (g *grant) beginLocked(now time.Time) (over chan struct{}) {
	if g.fetching == nil && !now.Before(g.earliest) {
		g.fetching = make(chan struct{})
		go g.run(now)
	}
	return g.fetching
}

// run fetches a token. Its life counts from when it was asked for, which is
// before it began.
func (g *grant) run(asked time.Time) {
	got, fault := g.fetch(g.key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if fault != market.FaultNone {
		g.failures++
		g.earliest = later(g.earliest, g.now().Add(waitAfter(g.failures)))
	} else {
		g.token, g.since, g.until = got.token, asked, asked.Add(got.life)
		g.ahead = asked.Add(got.life/4*3 + rand.N(got.life/10))
		g.refused, g.failures = false, 0
	}
	close(g.fetching)
	g.fetching = nil
}

// waitAfter is how long to wait after so many bad outcomes in a row.
func waitAfter(bad int) time.Duration {
	if bad == 0 {
		return 0
	}
	return min(firstWait<<min(bad-1, 10), longestWait)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// await waits for the end of a fetch, until the deadline at most.
func await(over <-chan struct{}, deadline time.Time) bool {
	select {
	case <-over:
		return true
	case <-timer.After(time.Until(deadline)):
		return false
	}
}
