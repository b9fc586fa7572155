package buyer

import (
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// maxAccounts bounds how many are remembered. A catalog names far fewer; this
// many are met only by years of changes to it.
const maxAccounts = 1 << 14

// longestRest is how long a 429 keeps pings away at most, so that a slip in a
// header does not cost a buyer its day. Then one ping asks again.
const longestRest = time.Hour

// account is the exchange at one endpoint of one buyer: where that is, who it is
// there, and whether it has been told to wait. Two buyers may share an address and
// a credential. They are two accounts with connections of their own, and a limit of
// one is none of the other's.
type account struct {
	*dial.Target
	auth           authorizer
	header, scheme string
	dialect        *dialect // nil: the contract
	address, head  []byte   // what requests begin with: see writeHead

	// rest is until when a 429 keeps pings away, in Unix nanoseconds by the
	// client's clock. It only grows: of several answers the longest wait holds.
	rest atomic.Int64
}

// accountKey is an endpoint in a form that compares by what it says.
type accountKey struct {
	owner                           dial.Owner
	url, credential, header, scheme string
	oauth                           market.OAuthClient
	dialect                         market.Dialect
}

// plainKey is all that there is to an endpoint that speaks the contract and has
// a fixed credential, as most have. It is looked for with each ping, and to hash
// what they lack took longer than all the rest of it.
type plainKey struct {
	owner                           dial.Owner
	url, credential, header, scheme string
}

// accounts remembers them by what their endpoints say. The same endpoint out of
// the catalog and out of an old intent is one account.
type accounts struct {
	open func(dial.Owner, *market.Endpoint) (*account, market.Fault)

	mu    sync.RWMutex // guards what follows
	byKey map[accountKey]*account
	plain map[plainKey]*account // of those in byKey, the ones that this describes
}

// find gives the account of a buyer at an endpoint. Forgotten ones, when there are too
// many, lose nothing but a rest.
func (as *accounts) find(owner dial.Owner, e *market.Endpoint) (*account, market.Fault) {
	plain := plainKey{owner, e.URL, e.Credential, e.Header, e.Scheme}
	isPlain := e.OAuth == nil && e.Dialect == nil
	if isPlain {
		as.mu.RLock()
		a := as.plain[plain]
		as.mu.RUnlock()
		if a != nil {
			return a, market.FaultNone
		}
	}
	key := accountKey{owner: owner, url: e.URL, credential: e.Credential, header: e.Header, scheme: e.Scheme}
	if e.OAuth != nil {
		key.oauth = *e.OAuth
	}
	if e.Dialect != nil {
		key.dialect = *e.Dialect
	}
	as.mu.RLock()
	a := as.byKey[key]
	as.mu.RUnlock()
	if a != nil {
		return a, market.FaultNone
	}
	own := *e // the caller's stays where it is
	a, fault := as.open(owner, &own)
	if fault != market.FaultNone {
		return nil, fault
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if known := as.byKey[key]; known != nil {
		return known, market.FaultNone
	}
	if as.byKey == nil || len(as.byKey) >= maxAccounts {
		as.byKey, as.plain = map[accountKey]*account{}, map[plainKey]*account{}
	}
	as.byKey[key] = a
	if isPlain {
		as.plain[plain] = a
	}
	return a, market.FaultNone
}

// openAccount makes an account. Its fault is FaultEndpoint: the endpoint was
// checked when it was configured, but a logged intent may be older than the
// check.
func (c *Client) openAccount(owner dial.Owner, e *market.Endpoint) (*account, market.Fault) {
	if fault := checkHeader(e); fault != market.FaultNone {
		return nil, fault
	}
	at, fault := c.hosts.Find(owner, e.URL)
	if fault != market.FaultNone {
		return nil, fault
	}
	a := &account{Target: at, header: e.Header, scheme: e.Scheme}
	if e.Dialect != nil {
		if a.dialect, fault = openDialect(e); fault != market.FaultNone {
			return nil, fault
		}
	}
	a.writeHead()
	switch {
	case e.Credential == "":
		a.auth = anonymous{}
	case e.OAuth == nil:
		a.auth = static{secrets: c.options.Secrets, name: e.Credential}
	default:
		a.auth = c.grants.of(grantKey{*e.OAuth, e.Credential})
	}
	return a, market.FaultNone
}

// resting is for how long pings are to stay away; zero: they are welcome.
func (a *account) resting(now time.Time) time.Duration {
	return max(0, time.Duration(a.rest.Load()-now.UnixNano()))
}

// restFor keeps pings away for a while.
func (a *account) restFor(wait time.Duration, now time.Time) {
	until := now.Add(min(wait, longestRest)).UnixNano()
	for {
		known := a.rest.Load()
		if known >= until || a.rest.CompareAndSwap(known, until) {
			return
		}
	}
}
