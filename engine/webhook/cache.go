package webhook

import (
	"sync"

	"pingpost/engine/market"
)

// PayloadCache has the payloads of the newest webhook events. A webhook is sent at once and is
// nearly always delivered at the first attempt. So the log is read only for attempts much later
// or after a restart.
//
// The cache never changes a result: a payload that is not in the cache is read from the log and has the
// same bytes, while the log has its records. The oldest payload is evicted first. If a record does not
// become durable, its payload stays unused until its eviction. The zero PayloadCache is ready to use.
type PayloadCache struct {
	mu       sync.Mutex
	payloads map[webhookEventKey]Payload
	queue    []webhookEventKey // oldest first
	textSize int               // bytes of the payloads' texts
}

// webhookEventKey identifies a webhook event by its lead and type. The type WebhookNone is for the
// payload of a lead whose post is open, because its event is not known yet.
type webhookEventKey struct {
	lead market.LeadID
	kind market.WebhookType
}

// Limits of the cache. The texts have their own limit, because sellers choose them.
const (
	maxCached      = 20_000
	maxCachedTexts = 4 << 20
)

// AddPayloadIfMissing adds the payload of a webhook event, unless the cache already has it. The
// type is WebhookNone if the lead's post is open: the record of its outcome will trigger the event.
func (c *PayloadCache) AddPayloadIfMissing(lead market.LeadID, webhookTypeOrNoneYet market.WebhookType, p Payload) {
	key := webhookEventKey{lead, webhookTypeOrNoneYet}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.payloads == nil {
		c.payloads = make(map[webhookEventKey]Payload)
	}
	if _, exists := c.payloads[key]; exists {
		return
	}
	c.textSize += p.textBytes()
	for len(c.queue) > 0 && (len(c.queue) >= maxCached || c.textSize > maxCachedTexts) {
		c.evictOldestLocked()
	}
	c.payloads[key], c.queue = p, append(c.queue, key)
}

func (c *PayloadCache) evictOldestLocked() {
	oldest := c.payloads[c.queue[0]]
	c.textSize -= oldest.textBytes()
	delete(c.payloads, c.queue[0])
	c.queue = c.queue[1:]
}

// FindPayload returns the payload of a webhook event. The result is false if the cache does not
// have it.
func (c *PayloadCache) FindPayload(lead market.LeadID, webhookTypeOrNoneYet market.WebhookType) (payload Payload, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.payloads[webhookEventKey{lead, webhookTypeOrNoneYet}]
	return p, ok
}
