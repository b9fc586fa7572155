package buyer

import (
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// maxAccounts limits how many accounts the client remembers. A configuration has far fewer;
// only years of configuration changes would reach the limit.
const maxAccounts = 1 << 14

// maxPingPause limits for how long a buyer's 429 pauses its pings. Without the limit a wrong
// Retry-After header could cost the buyer a whole day. After the pause the next ping is sent as
// usual.
const maxPingPause = time.Hour

// account is the exchange's identity at one endpoint of one buyer: target, credential, and the
// pause of pings after a 429. Two buyers with the same address and credential still are two
// accounts, with separate connections, limits and pauses.
type account struct {
	*dial.Target
	auth                      authorizer
	header, scheme            string
	dialect                   *dialect // nil: the contract
	requestLine, fixedHeaders []byte   // the beginning of each request: see encodeFixed

	// pausedUntil ends the pause of pings after a 429, in Unix nanoseconds by the client's
	// clock. It only grows: of several answers the longest wait applies.
	pausedUntil atomic.Int64
}

// accountKey identifies an account in a map: the owner and all settings of the endpoint, in a
// comparable form.
type accountKey struct {
	owner                           dial.Owner
	url, credential, header, scheme string
	oauth                           market.OAuthClient
	dialect                         market.Dialect
}

// plainAccountKey identifies the account of an endpoint without dialect and OAuth, as most are.
// Each ping looks up its account. Hashing the larger accountKey took longer than the rest of
// that lookup.
type plainAccountKey struct {
	owner                           dial.Owner
	url, credential, header, scheme string
}

// accounts remembers the accounts by the settings of their endpoints. An endpoint of the
// current configuration shares its account with an equal one in an old, logged delivery.
type accounts struct {
	newAccount func(dial.Owner, *market.Endpoint) (*account, market.Fault)

	mu     sync.RWMutex // guards the following fields
	byKey  map[accountKey]*account
	simple map[plainAccountKey]*account // the accounts in byKey that a plainAccountKey describes
}

// findOrCreate returns the account of a buyer at the endpoint e, and creates it if necessary.
// If there are too many accounts it forgets all of them, which loses only their pauses. The
// fault says why the endpoint is unusable.
func (as *accounts) findOrCreate(owner dial.Owner, e *market.Endpoint) (*account, market.Fault) {
	simple := plainAccountKey{owner, e.URL, e.Credential, e.Header, e.Scheme}
	isPlain := e.OAuth == nil && e.Dialect == nil
	if isPlain {
		as.mu.RLock()
		a := as.simple[simple]
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
	endpoint := *e // a copy, because the caller reuses its endpoint
	a, fault := as.newAccount(owner, &endpoint)
	if fault != market.FaultNone {
		return nil, fault
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if known := as.byKey[key]; known != nil {
		return known, market.FaultNone
	}
	if as.byKey == nil || len(as.byKey) >= maxAccounts {
		as.byKey, as.simple = map[accountKey]*account{}, map[plainAccountKey]*account{}
	}
	as.byKey[key] = a
	if isPlain {
		as.simple[simple] = a
	}
	return a, market.FaultNone
}

// newAccount returns a new account for the endpoint e, or FaultEndpoint if the endpoint is
// invalid. Configurations are validated, but a delivery in the log may have an endpoint that
// predates the validation.
func (c *Client) newAccount(owner dial.Owner, e *market.Endpoint) (*account, market.Fault) {
	if fault := checkCredentialHeader(e); fault != market.FaultNone {
		return nil, fault
	}
	at, fault := c.hosts.Find(owner, e.URL)
	if fault != market.FaultNone {
		return nil, fault
	}
	a := &account{Target: at, header: e.Header, scheme: e.Scheme}
	if e.Dialect != nil {
		if a.dialect, fault = newDialect(e); fault != market.FaultNone {
			return nil, fault
		}
	}
	a.encodeFixedHead()
	switch {
	case e.Credential == "":
		a.auth = noCredential{}
	case e.OAuth == nil:
		a.auth = staticSecret{secrets: c.options.Secrets, name: e.Credential}
	default:
		a.auth = c.tokenSources.findOrCreate(tokenKey{*e.OAuth, e.Credential})
	}
	return a, market.FaultNone
}

// remainingPingPause returns how long the exchange must still not ping the buyer because of a
// 429. It returns 0 if pings are allowed.
func (a *account) remainingPingPause(now time.Time) time.Duration {
	return max(0, time.Duration(a.pausedUntil.Load()-now.UnixNano()))
}

// pausePings forbids pings of this account for the time wait, at most maxPingPause. A shorter
// wait does not end a longer pause that was set before.
func (a *account) pausePings(wait time.Duration, now time.Time) {
	until := now.Add(min(wait, maxPingPause)).UnixNano()
	for {
		known := a.pausedUntil.Load()
		if known >= until || a.pausedUntil.CompareAndSwap(known, until) {
			return
		}
	}
}
