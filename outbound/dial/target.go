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

// maxTargets limits the remembered targets. A catalog has far fewer addresses; only years
// of catalog changes would reach the limit.
const maxTargets = 1 << 14

// Target is one configured address, parsed.
type Target struct {
	Authority string // for the Host header
	Path      string // with the query

	host *host
}

// origin is the scheme, name and port that the addresses of one host share.
type origin struct {
	secure     bool
	name, port string
}

// targetKey and hostKey are an address and an origin, each for one owner.
type (
	// targetKey and hostKey are an address and an origin of one owner.
	targetKey struct {
		owner   Owner
		address string
	}
	hostKey struct {
		owner Owner
		origin
	}
)

// targets remembers parsed addresses and hosts, each for one owner. So the addresses of
// one owner at one host share its connections.
type targets struct {
	newHost      func(origin, *atomic.Int64, int) *host
	defaultLimit int // connection limit of owners without their own

	mu         sync.RWMutex // guards the following fields
	byURL      map[targetKey]*Target
	byHost     map[hostKey]*host
	distrusted map[origin]*atomic.Int64
	limits     map[string]int // by the owner's name
}

// findOrCreate returns the target of an address, or FaultEndpoint if the address is invalid.
func (ts *targets) findOrCreate(owner Owner, address string) (*Target, market.Fault) {
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
		if ts.distrusted[from] == nil {
			ts.distrusted[from] = new(atomic.Int64)
		}
		t.host = ts.newHost(from, ts.distrusted[from], ts.connLimitLocked(owner))
		ts.byHost[at] = t.host
	}
	ts.byURL[key] = t
	return t, market.FaultNone
}

func (ts *targets) connLimitLocked(owner Owner) int {
	return cmp.Or(ts.limits[owner.Name], ts.defaultLimit)
}

func (ts *targets) setConnLimits(byName map[string]int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.limits = byName
	for at, h := range ts.byHost {
		for _, pool := range h.pools {
			pool.SetMaxConns(ts.connLimitLocked(at.owner))
		}
	}
}

// forgetLocked forgets all targets. Callers that hold a target continue to use it, and its
// connections are closed when they become idle.
func (ts *targets) forgetLocked() {
	for _, h := range ts.byHost {
		h.closeIdleConns()
	}
	ts.byURL, ts.byHost, ts.distrusted = map[targetKey]*Target{}, map[hostKey]*host{}, map[origin]*atomic.Int64{}
}

func (ts *targets) closeIdleConns() {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, h := range ts.byHost {
		h.closeIdleConns()
	}
}

// parseTarget parses an absolute http or https address. It rejects an address with user
// and password, because both would appear in logs and in the catalog.
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
