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

// maxTargets limits how many addresses Hosts remembers in parsed form. A configuration has far
// fewer; only years of configuration changes would reach the limit.
const maxTargets = 1 << 14

// Target is one configured address of an owner, parsed, with the host whose connections it
// uses.
type Target struct {
	Authority string // for the Host header
	Path      string // with the query

	host *hostConns
}

// origin is the part of an address that determines where to connect: scheme, name and port.
type origin struct {
	secure     bool
	name, port string
}

type (
	// targetKey identifies a target: an address of one owner.
	targetKey struct {
		owner   ConnOwner
		address string
	}
	// hostKey identifies the connections of one owner to one origin.
	hostKey struct {
		owner ConnOwner
		origin
	}
)

// targetCache remembers parsed addresses and their hosts, separately for each owner. All addresses
// of one owner at one host share their connections.
type targetCache struct {
	newHost      func(origin, *atomic.Int64, int) *hostConns
	defaultLimit int // connection limit of owners without their own

	mu         sync.RWMutex // guards the following fields
	byURL      map[targetKey]*Target
	byHost     map[hostKey]*hostConns
	distrusted map[origin]*atomic.Int64
	limits     map[string]int // by the owner's name
}

// findOrCreate returns the owner's target for an address, and creates it if necessary. It
// returns FaultEndpoint if the address is invalid.
func (ts *targetCache) findOrCreate(owner ConnOwner, address string) (*Target, market.OutboundRequestFault) {
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
		ts.forgetAllLocked()
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

func (ts *targetCache) connLimitLocked(owner ConnOwner) int {
	return cmp.Or(ts.limits[owner.Name], ts.defaultLimit)
}

func (ts *targetCache) setConnLimits(limitByOwnerName map[string]int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.limits = limitByOwnerName
	for at, h := range ts.byHost {
		for _, pool := range h.pools {
			pool.SetMaxConns(ts.connLimitLocked(at.owner))
		}
	}
}

// forgetAllLocked forgets all targets, their connections, and which origins are distrusted after an
// extra answer, because there are too many targets. Callers that hold a target can still use it. Its
// connections are closed when they become idle. The caller holds ts.mu.
func (ts *targetCache) forgetAllLocked() {
	for _, h := range ts.byHost {
		h.closeIdleConns()
	}
	ts.byURL, ts.byHost, ts.distrusted = map[targetKey]*Target{}, map[hostKey]*hostConns{}, map[origin]*atomic.Int64{}
}

func (ts *targetCache) closeIdleConns() {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, h := range ts.byHost {
		h.closeIdleConns()
	}
}

// parseTarget parses an absolute http or https address. It rejects an address with a user name
// or password, because these would appear in logs and in the configuration.
func parseTarget(address string) (t *Target, connectTo origin, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Opaque != "" || u.Fragment != "" {
		return nil, origin{}, false
	}
	connectTo = origin{name: strings.ToLower(u.Hostname()), port: u.Port()}
	switch {
	case u.Scheme == "http" && connectTo.port == "":
		connectTo.port = "80"
	case u.Scheme == "https":
		connectTo.secure = true
		if connectTo.port == "" {
			connectTo.port = "443"
		}
	case u.Scheme != "http":
		return nil, origin{}, false
	}
	if n, err := strconv.ParseUint(connectTo.port, 10, 16); err != nil || n == 0 {
		return nil, origin{}, false
	}
	return &Target{Authority: u.Host, Path: u.RequestURI()}, connectTo, true
}
