package buyer

import (
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// maxBuyerEndpoints limits how many buyer endpoints the client remembers. A configuration has far fewer;
// only years of configuration changes would reach the limit.
const maxBuyerEndpoints = 1 << 14

// maxPingPause limits for how long a buyer's 429 pauses its pings. Without the limit a wrong
// Retry-After header could cost the buyer a whole day. After the pause the next ping is sent as
// usual.
const maxPingPause = time.Hour

// buyerEndpoint is one endpoint of one buyer, ready for use: the target, the credential, the adapter
// protocol, and the pause of pings after a 429. Two buyers with the same address and credential have
// two buyerEndpoints, with separate connections, limits and pauses. An OAuth token endpoint is a
// buyerEndpoint too, without a credential.
type buyerEndpoint struct {
	*dial.Target
	auth                      credentialSource
	header, scheme            string
	protocol                  *validatedAdapter // nil: the contract
	requestLine, fixedHeaders []byte            // the beginning of each request: see encodeConstantHead

	// pausedUntil ends the pause of pings after a 429, in Unix nanoseconds by the client's
	// clock. It only grows: of several answers the longest wait applies.
	pausedUntil atomic.Int64
}

// buyerEndpointKey identifies a buyer endpoint in a map: the owner and all settings of the
// endpoint, in a comparable form.
type buyerEndpointKey struct {
	owner                           dial.ConnOwner
	url, credential, header, scheme string
	oauth                           market.OutboundOAuthClient
	protocol                        market.AdapterProtocol
}

// endpointKeyWithoutAdapterOrOAuth identifies a buyer endpoint whose settings have no adapter protocol
// and no OAuth client. Most have neither. Each ping looks up its buyer endpoint. Hashing the larger
// buyerEndpointKey took longer than the rest of that lookup.
type endpointKeyWithoutAdapterOrOAuth struct {
	owner                           dial.ConnOwner
	url, credential, header, scheme string
}

// buyerEndpointCache remembers each buyerEndpoint by its owner and settings (market.Endpoint). Equal
// settings in the current configuration and in an old, logged delivery share one buyerEndpoint.
type buyerEndpointCache struct {
	newEndpoint func(dial.ConnOwner, *market.OutboundEndpoint) (*buyerEndpoint, market.OutboundRequestFault)

	mu         sync.RWMutex // guards the following fields
	byKey      map[buyerEndpointKey]*buyerEndpoint
	byPlainKey map[endpointKeyWithoutAdapterOrOAuth]*buyerEndpoint // the buyer endpoints in byKey that an endpointKeyWithoutAdapterOrOAuth describes
}

// findOrCreate returns the buyer endpoint of an owner with these settings, and creates it if necessary.
// If there are too many buyer endpoints it forgets all of them, which loses only their pauses. The
// fault says why the endpoint is unusable.
func (as *buyerEndpointCache) findOrCreate(owner dial.ConnOwner, settings *market.OutboundEndpoint) (*buyerEndpoint, market.OutboundRequestFault) {
	simple := endpointKeyWithoutAdapterOrOAuth{owner, settings.URL, settings.Credential, settings.Header, settings.Scheme}
	isPlain := settings.OAuth == nil && settings.AdapterProtocol == nil
	if isPlain {
		as.mu.RLock()
		a := as.byPlainKey[simple]
		as.mu.RUnlock()
		if a != nil {
			return a, market.FaultNone
		}
	}
	key := buyerEndpointKey{owner: owner, url: settings.URL, credential: settings.Credential, header: settings.Header, scheme: settings.Scheme}
	if settings.OAuth != nil {
		key.oauth = *settings.OAuth
	}
	if settings.AdapterProtocol != nil {
		key.protocol = *settings.AdapterProtocol
	}
	as.mu.RLock()
	a := as.byKey[key]
	as.mu.RUnlock()
	if a != nil {
		return a, market.FaultNone
	}
	endpoint := *settings // a copy, because the caller reuses its endpoint
	a, fault := as.newEndpoint(owner, &endpoint)
	if fault != market.FaultNone {
		return nil, fault
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if known := as.byKey[key]; known != nil {
		return known, market.FaultNone
	}
	if as.byKey == nil || len(as.byKey) >= maxBuyerEndpoints {
		as.byKey, as.byPlainKey = map[buyerEndpointKey]*buyerEndpoint{}, map[endpointKeyWithoutAdapterOrOAuth]*buyerEndpoint{}
	}
	as.byKey[key] = a
	if isPlain {
		as.byPlainKey[simple] = a
	}
	return a, market.FaultNone
}

// newBuyerEndpoint returns a new buyer endpoint with these settings, or FaultEndpoint if they are
// invalid. Configurations are validated, but a delivery in the log may have an endpoint that
// predates the validation.
func (c *Client) newBuyerEndpoint(owner dial.ConnOwner, settings *market.OutboundEndpoint) (*buyerEndpoint, market.OutboundRequestFault) {
	if fault := checkCredentialHeaderAndScheme(settings); fault != market.FaultNone {
		return nil, fault
	}
	at, fault := c.hosts.FindOrCreateTarget(owner, settings.URL)
	if fault != market.FaultNone {
		return nil, fault
	}
	a := &buyerEndpoint{Target: at, header: settings.Header, scheme: settings.Scheme}
	if settings.AdapterProtocol != nil {
		if a.protocol, fault = validateAdapter(settings); fault != market.FaultNone {
			return nil, fault
		}
	}
	a.encodeConstantHead()
	switch {
	case settings.Credential == "":
		a.auth = noCredential{}
	case settings.OAuth == nil:
		a.auth = staticSecret{secrets: c.options.Secrets, name: settings.Credential}
	default:
		a.auth = c.tokenSources.findOrCreate(oauthClientKey{*settings.OAuth, settings.Credential})
	}
	return a, market.FaultNone
}

// remainingPauseAfter429 returns how long the exchange must still not ping the buyer because of a
// 429. It returns 0 if pings are allowed.
func (a *buyerEndpoint) remainingPauseAfter429(now time.Time) time.Duration {
	return max(0, time.Duration(a.pausedUntil.Load()-now.UnixNano()))
}

// pausePings forbids pings of this buyer endpoint for the time pause, at most maxPingPause. A shorter
// pause does not end a longer pause that was set before.
func (a *buyerEndpoint) pausePings(pause time.Duration, now time.Time) {
	until := now.Add(min(pause, maxPingPause)).UnixNano()
	for {
		known := a.pausedUntil.Load()
		if known >= until || a.pausedUntil.CompareAndSwap(known, until) {
			return
		}
	}
}
