package refbuyer

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"strconv"
	"sync"
	"time"
)

// maxTokens is the number of valid access tokens. A new token replaces the oldest one,
// whose holder then receives 401 and requests another.
const maxTokens = 1024

// access decides which callers may sell: the holder of the static token, and holders of
// access tokens. Without either kind, any caller may sell.
//
// A token that expires early is valid for a secret number of uses, at least ten, so that a
// seller which then requests another makes progress.
type access struct {
	static   []byte
	lifetime time.Duration // of an access token; 0: no access tokens
	early    float64       // share of tokens that expire early
	chance   chance

	mu     sync.Mutex
	known  map[string]*accessToken
	ring   [maxTokens]string
	next   int
	serial int64 // tokens issued so far
}

type accessToken struct {
	scope   scope
	expires time.Time
	uses    int // remaining uses; unlimited for most
}

const (
	unlimitedUses = -1
	leastUses     = 10
	mostUses      = 100
)

// verdict is the result of checking a credential.
type verdict uint8

const (
	refused verdict = iota
	admitted
	outOfScope
)

func (a *access) open() bool { return len(a.static) == 0 && a.lifetime == 0 }

// checkHeader checks an Authorization header.
func (a *access) checkHeader(header []byte, wanted scope, now time.Time) verdict {
	if a.open() {
		return admitted
	}
	scheme, token, _ := bytes.Cut(header, []byte(" "))
	if !bytes.EqualFold(scheme, []byte("Bearer")) {
		return refused
	}
	if len(a.static) > 0 && subtle.ConstantTimeCompare(token, a.static) == 1 {
		return admitted
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.known[string(token)]
	switch {
	case t == nil || !now.Before(t.expires) || t.uses == 0:
		return refused
	case t.scope&wanted == 0:
		return outOfScope
	case t.uses > 0:
		t.uses--
	}
	return admitted
}

// issue creates a token.
func (a *access) issue(s scope, now time.Time) string {
	token := "tok_" + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serial++
	t := &accessToken{scope: s, expires: now.Add(a.lifetime), uses: unlimitedUses}
	serial := strconv.AppendInt(nil, a.serial, 10)
	if a.chance.happens(a.early, drawExpireEarly, serial, 0) {
		t.uses = leastUses + int(a.chance.draw(drawUses, serial, 0)*(mostUses-leastUses+1))
	}
	delete(a.known, a.ring[a.next])
	a.ring[a.next] = token
	a.next = (a.next + 1) % len(a.ring)
	a.known[token] = t
	return token
}

func (a *access) issued() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serial
}
