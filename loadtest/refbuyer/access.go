package refbuyer

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"strconv"
	"sync"
	"time"
)

// maxTokens is how many access tokens are known at once. The oldest makes room
// for the newest: its holder is told 401, and asks for another.
const maxTokens = 1024

// access says who may sell: the holder of the one static token, and those of
// access tokens. Where there is neither, anybody.
//
// A token that expires early is good for a number of uses that nobody was
// told, and for none after them. The number is drawn, at least ten, so that a
// seller which fetches another gets on.
type access struct {
	static   []byte
	lifetime time.Duration // of an access token; 0: none are given out
	early    float64       // share of them that expire early
	chance   chance

	mu     sync.Mutex
	known  map[string]*accessToken
	ring   [maxTokens]string
	next   int
	serial int64 // tokens given out so far
}

type accessToken struct {
	scope   scope
	expires time.Time
	uses    int // that are left; endless for most
}

const (
	endless   = -1
	leastUses = 10
	mostUses  = 100
)

// verdict is what a credential is good for.
type verdict uint8

const (
	refused verdict = iota
	admitted
	outOfScope
)

func (a *access) open() bool { return len(a.static) == 0 && a.lifetime == 0 }

// judge looks at an Authorization header.
func (a *access) judge(header []byte, wanted scope, now time.Time) verdict {
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

// issue makes a token.
func (a *access) issue(s scope, now time.Time) string {
	token := "tok_" + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serial++
	t := &accessToken{scope: s, expires: now.Add(a.lifetime), uses: endless}
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
