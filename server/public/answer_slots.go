package public

import (
	"bytes"
	"sync"

	"pingpost/engine/market"
)

// Limits of the large answers of one kind that are being sent, in total and per owner. The kinds
// are answers with seeded leads, and answers to batches of reports. Each may have a megabyte or
// more, and stays in memory until the client has read it or it times out.
const (
	maxAnswers         = 64
	maxAnswersPerOwner = 32
)

// largeAnswerLimiter limits how many large answers of one kind are in memory at a time, in total and
// per supplier or buyer. A slot is reserved before the answer is built.
type largeAnswerLimiter struct {
	mu       sync.Mutex
	all      int
	perOwner map[market.PermanentNumber]int
}

// acquireSlot reserves a slot for a large answer to a supplier or buyer. It returns false if all
// slots, or all slots of this owner, are in use.
func (c *largeAnswerLimiter) acquireSlot(ownerRef market.PermanentNumber) (acquired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= maxAnswers || c.perOwner[ownerRef] >= maxAnswersPerOwner {
		return false
	}
	if c.perOwner == nil {
		c.perOwner = make(map[market.PermanentNumber]int)
	}
	c.all++
	c.perOwner[ownerRef]++
	return true
}

func (c *largeAnswerLimiter) releaseSlot(ownerRef market.PermanentNumber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.perOwner[ownerRef]--; c.perOwner[ownerRef] == 0 {
		delete(c.perOwner, ownerRef)
	}
}

// answerBodyHoldingSlot is the body of a large answer. It occupies a slot of a largeAnswerLimiter until it
// is sent.
type answerBodyHoldingSlot struct {
	bytes.Reader
	release func()
}

// Close releases the answer's slot. The HTTP library calls it after it sent the answer or the
// client disconnected.
func (a *answerBodyHoldingSlot) Close() error {
	a.release()
	a.release = func() {}
	return nil
}
