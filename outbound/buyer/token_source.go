package buyer

import (
	"math/rand/v2"
	"sync"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/timer"
)

const (
	maxTokenSources = 4096 // remembered OAuth clients; see maxBuyerEndpoints

	// After a failed fetch, or a new token that was rejected at once, the next fetch
	// waits. The wait begins with firstBackoff and doubles up to maxBackoff.
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second

	// earlyAge is the age below which a token's rejection counts against the next token,
	// because age was not the reason.
	earlyAge = time.Minute
)

// oauthClientKey identifies one OAuth client at one token endpoint. Requests with equal keys share a
// token.
type oauthClientKey struct {
	client     market.OutboundOAuthClient
	secretName string // name of the client's secret
}

// tokenSources remembers the source of tokens of each OAuth client, so that all pings and posts
// of one client share a token.
type tokenSources struct {
	fetch func(oauthClientKey) (fetchedToken, market.OutboundRequestFault)
	now   func() time.Time

	mu    sync.Mutex // guards byKey
	byKey map[oauthClientKey]*tokenSource
}

func (ss *tokenSources) findOrCreate(key oauthClientKey) *tokenSource {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.byKey[key]; s != nil {
		return s
	}
	if ss.byKey == nil || len(ss.byKey) >= maxTokenSources {
		ss.byKey = map[oauthClientKey]*tokenSource{}
	}
	s := &tokenSource{key: key, fetch: ss.fetch, now: ss.now}
	ss.byKey[key] = s
	return s
}

// fetchedToken is a token from its endpoint, with a lifetime of at most maxLifetime.
type fetchedToken struct {
	token    string // empty after a failure
	lifetime time.Duration
}

// tokenSource provides the token of one OAuth client to all calls that send it.
//
// At most one fetch is under way. It runs in its own goroutine with its own time limit.
// Calls that need its result wait for it, each until its own deadline. A call that gives
// up does not affect the others.
//
// A token is renewed before it expires. The first call after about four fifths of its
// lifetime starts the fetch, and calls use the old token until the new one arrives. The
// exact time is random, so that clients that started together do not fetch together. There
// is no timer, so a buyer without calls causes no fetch.
//
// A 401 counts against the token that was sent. Unless another token has arrived since, it
// starts a fetch. Calls continue to send the rejected token meanwhile, because one failing
// machine among many may have caused the 401. If a new token is rejected, another new one
// will hardly help. Fetches then back off, as after a failed fetch. So neither a failing
// token endpoint nor a buyer that rejects every token gets a flood of requests.
type tokenSource struct {
	key   oauthClientKey
	fetch func(oauthClientKey) (fetchedToken, market.OutboundRequestFault)
	now   func() time.Time

	mu              sync.Mutex // guards the following fields
	token           string     // empty before the first fetch
	requestedAt     time.Time  // when its fetch began
	renewAt         time.Time  // from then on the next one is fetched
	expiresAt       time.Time
	rejected        bool          // a 401 followed this token
	earlyRejections int           // consecutive tokens that were rejected early
	failures        int           // consecutive failed fetches
	nextFetch       time.Time     // no fetch before
	fetching        chan struct{} // closed when the current fetch ends; nil: no fetch
}

func (s *tokenSource) credential(deadline time.Time) (string, market.OutboundRequestFault) {
	s.mu.Lock()
	now := s.now()
	if s.isTokenValidLocked(now) {
		if !now.Before(s.renewAt) {
			s.startOrJoinFetchLocked(now)
		}
		token := s.token
		s.mu.Unlock()
		return token, market.FaultNone
	}
	done := s.startOrJoinFetchLocked(now)
	s.mu.Unlock()
	if done == nil || !waitForFetch(done, deadline) {
		return "", market.FaultCredential
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isTokenValidLocked(s.now()) {
		return "", market.FaultCredential
	}
	return s.token, market.FaultNone
}

func (s *tokenSource) isTokenValidLocked(now time.Time) bool {
	return s.token != "" && now.Before(s.expiresAt)
}

func (s *tokenSource) renewAfter401(rejectedToken string, deadline time.Time) (hasAnother bool) {
	s.mu.Lock()
	if s.token != rejectedToken {
		s.mu.Unlock()
		return true
	}
	now := s.now()
	if !s.rejected {
		s.rejected = true
		if now.Sub(s.requestedAt) >= earlyAge {
			s.earlyRejections = 0
		}
		s.nextFetch = laterTime(s.nextFetch, s.requestedAt.Add(fetchBackoff(s.earlyRejections)))
		s.earlyRejections++
	}
	done := s.startOrJoinFetchLocked(now)
	s.mu.Unlock()
	if done == nil || !waitForFetch(done, deadline) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token != rejectedToken
}

// startOrJoinFetchLocked starts to fetch a token in the background, unless a fetch is running. It
// returns a channel that is closed when the fetch ends. It returns nil if the backoff after a failed
// fetch, or after a rejected new token, forbids a fetch for now. The caller holds s.mu.
func (s *tokenSource) startOrJoinFetchLocked(now time.Time) (doneOrNilInBackoff chan struct{}) {
	if s.fetching == nil && !now.Before(s.nextFetch) {
		s.fetching = make(chan struct{})
		go s.fetchAndStoreToken(now)
	}
	return s.fetching
}

// fetchAndStoreToken fetches a token and stores it, or sets the backoff after a failure. startedAt
// is the time when the fetch began. The token's lifetime counts from then, which is earlier than
// its real beginning.
func (s *tokenSource) fetchAndStoreToken(startedAt time.Time) {
	got, fault := s.fetch(s.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault != market.FaultNone {
		s.failures++
		s.nextFetch = laterTime(s.nextFetch, s.now().Add(fetchBackoff(s.failures)))
	} else {
		s.token, s.requestedAt, s.expiresAt = got.token, startedAt, startedAt.Add(got.lifetime)
		s.renewAt = startedAt.Add(got.lifetime/4*3 + rand.N(got.lifetime/10))
		s.rejected, s.failures = false, 0
	}
	close(s.fetching)
	s.fetching = nil
}

// fetchBackoff returns how long to wait for the next fetch after this number of consecutive
// failures: 1 s, 2 s, 4 s, up to maxBackoff.
func fetchBackoff(consecutiveFailures int) (wait time.Duration) {
	if consecutiveFailures == 0 {
		return 0
	}
	return min(firstBackoff<<min(consecutiveFailures-1, 10), maxBackoff)
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// waitForFetch waits until a fetch ends, which closes done. It returns false if the deadline
// passes first.
func waitForFetch(done <-chan struct{}, deadline time.Time) (ended bool) {
	select {
	case <-done:
		return true
	case <-timer.After(time.Until(deadline)):
		return false
	}
}
