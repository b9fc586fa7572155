package webhook

import (
	"sync"

	"pingpost/engine/market"
)

// PayloadCache has the payloads of the newest events. A webhook is sent at once and is nearly
// always delivered at the first attempt. So the log is read only for attempts much later
// or after a restart.
//
// The cache never changes a result: a missing payload is read from the log and has the
// same bytes. The oldest payload is evicted first. A record that did not become durable
// leaves an unused payload. The zero PayloadCache is ready to use.
type PayloadCache struct {
	mu       sync.Mutex
	payloads map[cacheKey]Payload
	queue    []cacheKey // oldest first
	textSize int        // bytes of the payloads' texts
}

// cacheKey identifies an event. WebhookNone is for a lead whose event is not known yet.
type cacheKey struct {
	lead market.LeadID
	kind market.WebhookType
}

// Limits of the cache. The texts have their own limit, because sellers choose them.
const (
	maxCached      = 20_000
	maxCachedTexts = 4 << 20
)

// AddPayload adds the payload of an event, unless the cache has one for it. The type is
// WebhookNone if a later record will trigger the lead's event.
func (c *PayloadCache) AddPayload(lead market.LeadID, kind market.WebhookType, p Payload) {
	key := cacheKey{lead, kind}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.payloads == nil {
		c.payloads = make(map[cacheKey]Payload)
	}
	if _, exists := c.payloads[key]; exists {
		return
	}
	c.textSize += p.textSize()
	for len(c.queue) > 0 && (len(c.queue) >= maxCached || c.textSize > maxCachedTexts) {
		c.evictOldestLocked()
	}
	c.payloads[key], c.queue = p, append(c.queue, key)
}

func (c *PayloadCache) evictOldestLocked() {
	oldest := c.payloads[c.queue[0]]
	c.textSize -= oldest.textSize()
	delete(c.payloads, c.queue[0])
	c.queue = c.queue[1:]
}

// FindPayload returns the payload of an event, and false if the cache does not have it.
func (c *PayloadCache) FindPayload(lead market.LeadID, kind market.WebhookType) (Payload, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.payloads[cacheKey{lead, kind}]
	return p, ok
}
