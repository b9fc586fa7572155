package dial

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"pingpost/engine/market"
)

// maxTargets bounds what is remembered. A catalog names far fewer addresses;
// this many are met only by years of changes to it.
const maxTargets = 1 << 14

// Target is one configured address, taken apart.
type Target struct {
	Authority string // for the Host header
	Path      string // with the query

	host *host
}

// origin is whom to connect to: what all addresses of one host have in common.
type origin struct {
	secure     bool
	name, port string
}

// targetKey and hostKey are an address and an origin, each for one owner.
type (
	targetKey struct {
		owner   Owner
		address string
	}
	hostKey struct {
		owner Owner
		origin
	}
)

// targets remembers addresses by their text, and hosts by their origin, each for one
// owner. So the addresses of one owner at one host share its connections.
type targets struct {
	open  func(origin, *atomic.Int64, int) *host
	usual int // limit of the owners that have none of their own

	mu     sync.RWMutex // guards what follows
	byURL  map[targetKey]*Target
	byHost map[hostKey]*host
	wary   map[origin]*atomic.Int64
	limits map[string]int // by the owner's name
}

// find gives the target of an address, which is FaultEndpoint if it is none: it
// was checked when it was configured, but a logged intent may be older than the
// check.
func (ts *targets) find(owner Owner, address string) (*Target, market.Fault) {
	key := targetKey{owner, address}
	ts.mu.RLock()
	t := ts.byURL[key]
	ts.mu.RUnlock()
	if t != nil {
		return t, market.FaultNone
	}
	t, from, ok := parseTarget(address)
	if !ok {
		return nil, market.FaultEndpoint
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if known := ts.byURL[key]; known != nil {
		return known, market.FaultNone
	}
	if ts.byURL == nil || len(ts.byURL) >= maxTargets {
		ts.forgetLocked()
	}
	at := hostKey{owner, from}
	if t.host = ts.byHost[at]; t.host == nil {
		if ts.wary[from] == nil {
			ts.wary[from] = new(atomic.Int64)
		}
		t.host = ts.open(from, ts.wary[from], ts.limitLocked(owner))
		ts.byHost[at] = t.host
	}
	ts.byURL[key] = t
	return t, market.FaultNone
}

func (ts *targets) limitLocked(owner Owner) int {
	return cmp.Or(ts.limits[owner.Name], ts.usual)
}

func (ts *targets) limit(byName map[string]int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.limits = byName
	for at, h := range ts.byHost {
		for _, pool := range h.pools {
			pool.SetMaxConns(ts.limitLocked(at.owner))
		}
	}
}

// forgetLocked starts over. Who holds a target still goes on with it; its
// connections are closed as they fall idle.
func (ts *targets) forgetLocked() {
	for _, h := range ts.byHost {
		h.closeIdle()
	}
	ts.byURL, ts.byHost, ts.wary = map[targetKey]*Target{}, map[hostKey]*host{}, map[origin]*atomic.Int64{}
}

func (ts *targets) closeIdle() {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, h := range ts.byHost {
		h.closeIdle()
	}
}

// parseTarget takes an absolute http or https address apart. One with user and
// password is refused: they would end up in logs and in the catalog.
func parseTarget(address string) (t *Target, from origin, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Opaque != "" || u.Fragment != "" {
		return nil, origin{}, false
	}
	from = origin{name: strings.ToLower(u.Hostname()), port: u.Port()}
	switch {
	case u.Scheme == "http" && from.port == "":
		from.port = "80"
	case u.Scheme == "https":
		from.secure = true
		if from.port == "" {
			from.port = "443"
		}
	case u.Scheme != "http":
		return nil, origin{}, false
	}
	if n, err := strconv.ParseUint(from.port, 10, 16); err != nil || n == 0 {
		return nil, origin{}, false
	}
	return &Target{Authority: u.Host, Path: u.RequestURI()}, from, true
}
