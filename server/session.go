package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/state"
	"pingpost/server/passphrase"
)

const (
	cookieName  = "__Host-pingpost"
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour

	maxSessions   = 10_000
	maxSessionsOf = 20 // one user's
)

// session is a browser that has logged in. Its identifier is known to that browser
// alone; here is its hash.
type session struct {
	hash [32]byte
	name string     // whose it is
	user state.User // as it was then; of nobody where the configured password was given
	csrf string     // what a page of this address knows, and another does not
	born time.Time
	seen time.Time // under the entrance's lock
}

// vouched tells whether a request was made by a page that knows the session, rather
// than by a browser for any page. What only reads is of no use to such a page.
func (s *session) vouched(header *fasthttp.RequestHeader) bool {
	return header.IsGet() || header.IsHead() || subtle.ConstantTimeCompare(header.Peek("X-CSRF-Token"), []byte(s.csrf)) == 1
}

// entrance has what is in memory alone of those who come in: sessions, when somebody
// was seen, and who fails to log in. A restart ends all of it.
type entrance struct {
	keeper    *passphrase.Keeper
	byNetwork *strikes[netip.Prefix]
	byName    *strikes[string]
	now       func() time.Time

	mu       sync.Mutex
	sessions map[[32]byte]*session
	users    map[string]int64   // when each was last let in, Unix nanoseconds
	tokens   map[[32]byte]int64 // when each was last used
}

func newEntrance() *entrance {
	return &entrance{
		keeper: passphrase.New(), byNetwork: strikesOf[netip.Prefix](6*time.Second, 10), byName: strikesOf[string](3*time.Second, 20), now: time.Now,
		sessions: make(map[[32]byte]*session), users: make(map[string]int64), tokens: make(map[[32]byte]int64),
	}
}

// begin begins a session and gives the value of its cookie. Of the user's sessions and
// of all, those that were longest idle go where there are too many.
func (t *entrance) begin(name string, user state.User) (cookie string, s *session) {
	cookie, now := randomWord(), t.now()
	s = &session{hash: sha256.Sum256([]byte(cookie)), name: name, user: user, csrf: randomWord(), born: now, seen: now}
	t.mu.Lock()
	defer t.mu.Unlock()
	all, own := t.sweepLocked(name, now)
	for range max(0, all+1-maxSessions) {
		t.dropIdlestLocked("")
	}
	for range max(0, own+1-maxSessionsOf) {
		t.dropIdlestLocked(name)
	}
	t.sessions[s.hash] = s
	t.users[user.Name] = now.UnixNano()
	return cookie, s
}

// sweepLocked removes sessions that have ended, and counts the others.
func (t *entrance) sweepLocked(name string, now time.Time) (all, own int) {
	for hash, s := range t.sessions {
		switch {
		case s.endedLocked(now):
			delete(t.sessions, hash)
			continue
		case s.name == name:
			own++
		}
		all++
	}
	return all, own
}

func (s *session) endedLocked(now time.Time) bool { return !now.Before(s.endLocked()) }

// endLocked is when it ends, unless it is used before.
func (s *session) endLocked() time.Time {
	end, idle := s.born.Add(sessionLife), s.seen.Add(sessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// dropIdlestLocked ends the session that was not seen for longest: of a name, or with
// none of all.
func (t *entrance) dropIdlestLocked(name string) {
	var idlest *session
	for _, s := range t.sessions {
		if (name == "" || s.name == name) && (idlest == nil || s.seen.Before(idlest.seen)) {
			idlest = s
		}
	}
	if idlest != nil {
		delete(t.sessions, idlest.hash)
	}
}

// find is the session of a cookie, which is seen by that; nil: there is none.
func (t *entrance) find(cookie []byte) *session {
	if len(cookie) != wordLength {
		return nil
	}
	hash, now := sha256.Sum256(cookie), t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[hash]
	switch {
	case s == nil:
		return nil
	case s.endedLocked(now):
		delete(t.sessions, hash)
		return nil
	}
	s.seen = now
	t.users[s.user.Name] = now.UnixNano()
	return s
}

// has tells whether a session goes on.
func (t *entrance) has(s *session) bool {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions[s.hash] == s && !s.endedLocked(now)
}

// ends is when the session ends, unless it is used before.
func (t *entrance) ends(s *session) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.endLocked()
}

// end ends a session.
func (t *entrance) end(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, s.hash)
}

// forget drops what is known of a user who is no more, or is another by now.
func (t *entrance) forget(name string, tokens []state.APIToken, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, s := range t.sessions {
		if s.user.Name == name {
			delete(t.sessions, hash)
		}
	}
	for i := range tokens {
		delete(t.tokens, tokens[i].Hash)
	}
	if gone {
		delete(t.users, name)
	}
}

// forgetToken drops what is known of a token that ends.
func (t *entrance) forgetToken(hash [32]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, hash)
}

func (t *entrance) sawToken(token *state.APIToken, now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[token.Hash], t.users[token.User] = now, now
}

// userSeen is when somebody was let in last; zero: not since the start.
func (t *entrance) userSeen(name string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.users[name]
}

// tokenSeen is when a token was used last; zero: not since the start.
func (t *entrance) tokenSeen(hash [32]byte) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens[hash]
}

// wordLength is how long what is drawn at random is, in characters.
const wordLength = 43

func randomWord() string {
	var random [32]byte
	_, _ = rand.Read(random[:])
	return base64.RawURLEncoding.EncodeToString(random[:])
}
