package admin

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/keys/passphrase"
	"pingpost/server/ratelimit"
)

const (
	cookieName  = "__Host-pingpost" // followed by the port: sessionCookieNameWithPort
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour

	maxSessions   = 10_000
	maxSessionsOf = 20 // per user
)

// session is the login of an operator's browser. Only the browser has the session id; the store
// has a hash of it.
type session struct {
	hash   [32]byte
	name   string              // the user's, or the name given with the configured password
	user   state.OperatorUser  // the account at login; zero for the configured password and for OIDC
	role   market.OperatorRole // without an account
	method signInMethod
	factor []byte // sealed secret of the second factor that the sign-in has passed; nil: none
	csrf   string // known to pages of this address only
	born   time.Time
	seen   time.Time // guarded by the store's lock
}

// isCSRFValidOrUnneeded reports whether the request has the session's CSRF token. Only the dashboard's
// own page knows the token, whereas the browser sends the cookie with requests of other pages
// too. GET and HEAD need no token, because another page cannot read their answers.
func (s *session) isCSRFValidOrUnneeded(header *fasthttp.RequestHeader) bool {
	return header.IsGet() || header.IsHead() || subtle.ConstantTimeCompare(header.Peek("X-CSRF-Token"), []byte(s.csrf)) == 1
}

// sessionStore holds the operators' sessions, the times of last use, and the counters of failed
// logins. It is in memory only, so a restart ends all sessions.
type sessionStore struct {
	keeper    *passphrase.Hasher
	verified  *verifiedPasswordCache
	byNetwork *ratelimit.TokenBuckets[netip.Prefix]
	byName    *ratelimit.TokenBuckets[string]
	byCode    *ratelimit.TokenBuckets[string] // wrong codes of second factors, by account
	now       func() time.Time
	factorOf  func(account string) state.SecondFactor

	mu       sync.Mutex
	sessions map[[32]byte]*session
	users    map[string]int64   // last authentication, Unix nanoseconds
	tokens   map[[32]byte]int64 // last use
}

func newSessionStore(factorOf func(account string) state.SecondFactor) *sessionStore {
	keeper := passphrase.New()
	return &sessionStore{
		keeper: keeper, verified: newVerifiedPasswordCache(keeper), byNetwork: ratelimit.NewTokenBuckets[netip.Prefix](6*time.Second, 10), byName: ratelimit.NewTokenBuckets[string](3*time.Second, 20), byCode: ratelimit.NewTokenBuckets[string](5*time.Minute, 10), now: time.Now, factorOf: factorOf,
		sessions: make(map[[32]byte]*session), users: make(map[string]int64), tokens: make(map[[32]byte]int64),
	}
}

// addSession starts the session s, whose name, account, method and factor are set, and returns the
// value of its cookie. If the user or all users together have too many sessions, it ends those that
// were unused for longest. secondFactorOK is false, and no session starts, if the account has a second
// factor that the sign-in has not passed.
//
// A confirmation of a second factor ends the account's sessions after the state has the factor. So a
// session of a sign-in that found no factor is either here by then, and ends, or finds the factor here.
func (t *sessionStore) addSession(s *session) (cookie string, secondFactorOK bool) {
	cookie, now := randomToken(), t.now()
	s.hash, s.csrf, s.born, s.seen = sha256.Sum256([]byte(cookie)), randomToken(), now, now
	userName := s.name
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.user.Name != "" {
		if factor := t.factorOf(s.user.Name); factor.Active && !bytes.Equal(factor.Sealed, s.factor) {
			return "", false
		}
	}
	all, own := t.removeExpiredSessionsLocked(userName, now)
	for range max(0, all+1-maxSessions) {
		t.endIdlestSessionLocked("")
	}
	for range max(0, own+1-maxSessionsOf) {
		t.endIdlestSessionLocked(userName)
	}
	t.sessions[s.hash] = s
	t.users[s.user.Name] = now.UnixNano()
	return cookie, true
}

// removeExpiredSessionsLocked removes expired sessions. It returns the number of the remaining ones,
// and how many of them belong to userName. The caller holds t.mu.
func (t *sessionStore) removeExpiredSessionsLocked(userName string, now time.Time) (remainingInTotal, remainingOfUser int) {
	for hash, s := range t.sessions {
		switch {
		case s.isExpiredLocked(now):
			delete(t.sessions, hash)
			continue
		case s.name == userName:
			remainingOfUser++
		}
		remainingInTotal++
	}
	return remainingInTotal, remainingOfUser
}

func (s *session) isExpiredLocked(now time.Time) bool { return !now.Before(s.expiryLocked()) }

// expiryLocked returns when the session expires if it is not used again: after 12 idle hours,
// or a week after the login. The caller holds the store's lock.
func (s *session) expiryLocked() time.Time {
	end, idle := s.born.Add(sessionLife), s.seen.Add(sessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// endIdlestSessionLocked ends the session of the user userName that was unused for longest, or of
// any user if userName is empty. The caller holds t.mu.
func (t *sessionStore) endIdlestSessionLocked(userName string) {
	var idlest *session
	for _, s := range t.sessions {
		if (userName == "" || s.name == userName) && (idlest == nil || s.seen.Before(idlest.seen)) {
			idlest = s
		}
	}
	if idlest != nil {
		delete(t.sessions, idlest.hash)
	}
}

// findSessionAndRecordUse returns the session to which the cookie's value belongs, and records its
// use. It returns nil if the session does not exist or has expired.
func (t *sessionStore) findSessionAndRecordUse(cookie []byte) *session {
	if len(cookie) != randomTokenLength {
		return nil
	}
	hash, now := sha256.Sum256(cookie), t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[hash]
	switch {
	case s == nil:
		return nil
	case s.isExpiredLocked(now):
		delete(t.sessions, hash)
		return nil
	}
	s.seen = now
	t.users[s.user.Name] = now.UnixNano()
	return s
}

// isSessionValid reports whether the session has neither ended nor expired. It does not count as a
// use.
func (t *sessionStore) isSessionValid(s *session) bool {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions[s.hash] == s && !s.isExpiredLocked(now)
}

// sessionExpiry returns when the session expires if it is not used again.
func (t *sessionStore) sessionExpiry(s *session) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.expiryLocked()
}

// endSession removes a session, so that its cookie is invalid from now on.
func (t *sessionStore) endSession(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, s.hash)
}

// endSessionsAndForgetUses ends all sessions of a user that was changed or removed. It also drops
// the remembered check of the user's password, the times of last use of revokedTokens (the user's
// tokens that the change revoked) and, with userRemoved set, the user's time of last use.
func (t *sessionStore) endSessionsAndForgetUses(userName string, revokedTokens []state.APIToken, userRemoved bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, s := range t.sessions {
		if s.user.Name == userName {
			delete(t.sessions, hash)
		}
	}
	for i := range revokedTokens {
		delete(t.tokens, revokedTokens[i].Hash)
	}
	t.verified.forgetUser(userName)
	if userRemoved {
		delete(t.users, userName)
	}
}

// endOtherSessions ends all sessions of an account except one, which may be nil.
func (t *sessionStore) endOtherSessions(account string, kept *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, s := range t.sessions {
		if s.user.Name == account && s != kept {
			delete(t.sessions, hash)
		}
	}
}

// forgetLastTokenUse drops the time of last use of a revoked API token.
func (t *sessionStore) forgetLastTokenUse(tokenHash [32]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, tokenHash)
}

func (t *sessionStore) recordUserSeen(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[name] = t.now().UnixNano()
}

func (t *sessionStore) recordTokenUse(token *state.APIToken, nowNanos int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[token.Hash], t.users[token.User] = nowNanos, nowNanos
}

// userLastSeenSinceStart returns when a user was last authenticated, in Unix nanoseconds, or 0 if not
// since the start of the process.
func (t *sessionStore) userLastSeenSinceStart(userName string) (unixNanos int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.users[userName]
}

// tokenLastUsedSinceStart returns when the API token with this hash was last used, in Unix nanoseconds,
// or 0 if not since the start of the process.
func (t *sessionStore) tokenLastUsedSinceStart(tokenHash [32]byte) (unixNanos int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens[tokenHash]
}

// randomTokenLength is the length of a random token, in characters.
const randomTokenLength = 43

func randomToken() string {
	var random [32]byte
	_, _ = rand.Read(random[:])
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// verifiedFor is how long a password that was verified once is accepted without the slow hash
// function argon2id.
const verifiedFor = 5 * time.Minute

// verifiedPasswordCache remembers for five minutes which passwords were right. A client of HTTP
// Basic sends its password with each request, and the slow hash argon2id for each would occupy
// a processor. The cache has one keyed hash per user, under a random key of this process. A
// changed account, such as a new password or role, makes its entry invalid.
//
// Concurrent requests with equal credentials share one check.
type verifiedPasswordCache struct {
	key   [32]byte
	check func(hash, password string) (bool, error)

	mu      sync.Mutex
	users   map[string]verifiedPassword
	pending map[[32]byte]chan struct{} // closed at the end of the check
}

type verifiedPassword struct {
	mac   [32]byte
	user  state.OperatorUser
	until time.Time
}

func newVerifiedPasswordCache(hasher *passphrase.Hasher) *verifiedPasswordCache {
	v := &verifiedPasswordCache{check: hasher.CheckPassword, users: make(map[string]verifiedPassword), pending: make(map[[32]byte]chan struct{})}
	_, _ = rand.Read(v.key[:])
	return v
}

// mac returns the hash of a name and password under the cache's random key. The NUL between
// them cannot be part of a name.
func (v *verifiedPasswordCache) mac(name, password string) (mac [32]byte) {
	h := hmac.New(sha256.New, v.key[:])
	h.Write([]byte(name + "\x00" + password))
	h.Sum(mac[:0])
	return mac
}

// awaitOrStartPasswordCheck returns true if the password with this hash was verified for the user
// recently. Otherwise the caller must check it, and then call finish with the result. Concurrent
// callers with an equal hash wait until then.
func (v *verifiedPasswordCache) awaitOrStartPasswordCheck(passwordMAC [32]byte, user *state.OperatorUser, now time.Time) (verified bool, finish func(right bool)) {
	for {
		v.mu.Lock()
		if one, ok := v.users[user.Name]; ok && user.Name != "" && hmac.Equal(one.mac[:], passwordMAC[:]) && one.user == *user && now.Before(one.until) {
			v.mu.Unlock()
			return true, nil
		}
		other := v.pending[passwordMAC]
		if other == nil {
			done := make(chan struct{})
			v.pending[passwordMAC] = done
			v.mu.Unlock()
			return false, func(right bool) { v.finishPasswordCheck(passwordMAC, *user, right, now.Add(verifiedFor), done) }
		}
		v.mu.Unlock()
		<-other
	}
}

func (v *verifiedPasswordCache) finishPasswordCheck(passwordMAC [32]byte, user state.OperatorUser, right bool, rememberUntil time.Time, done chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if right {
		v.users[user.Name] = verifiedPassword{passwordMAC, user, rememberUntil}
	}
	delete(v.pending, passwordMAC)
	close(done)
}

func (v *verifiedPasswordCache) forgetUser(userName string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.users, userName)
}
