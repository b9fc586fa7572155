package dial

import (
	"net/url"
	"strconv"
	"strings"
	"sync"

	"pingpost/engine/market"
)

// maxTargets bounds what is remembered. A catalog names far fewer addresses;
// this many are met only by years of changes to it.
const maxTargets = 4096

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

// targets remembers addresses by their text, and hosts by their origin, so that
// pings and posts to one host share its connections.
type targets struct {
	open func(origin) *host

	mu     sync.RWMutex // guards both maps
	byURL  map[string]*Target
	byHost map[origin]*host
}

// find gives the target of an address, which is FaultEndpoint if it is none: it
// was checked when it was configured, but a logged intent may be older than the
// check.
func (ts *targets) find(address string) (*Target, market.Fault) {
	ts.mu.RLock()
	t := ts.byURL[address]
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
	if known := ts.byURL[address]; known != nil {
		return known, market.FaultNone
	}
	if ts.byURL == nil || len(ts.byURL) >= maxTargets {
		ts.forgetLocked()
	}
	if t.host = ts.byHost[from]; t.host == nil {
		t.host = ts.open(from)
		ts.byHost[from] = t.host
	}
	ts.byURL[address] = t
	return t, market.FaultNone
}

// forgetLocked starts over. Who holds a target still goes on with it; its
// connections are closed as they fall idle.
func (ts *targets) forgetLocked() {
	for _, h := range ts.byHost {
		h.closeIdle()
	}
	ts.byURL, ts.byHost = map[string]*Target{}, map[origin]*host{}
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
