package webhook

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

func leadNumber(n int) market.LeadID { return market.LeadID{byte(n), byte(n >> 8), byte(n >> 16), 1} }

// TestCacheLimits checks that the cache keeps the newest payloads within both limits.
func TestCacheLimits(t *testing.T) {
	const long = maxCachedTexts / 64
	for name, test := range map[string]struct {
		text, kept int
	}{"many": {10, maxCached}, "long ones": {long, 64}, "without texts": {0, maxCached}} {
		t.Run(name, func(t *testing.T) {
			var c PayloadCache
			const more = 5000
			for n := range test.kept + more {
				c.AddPayloadIfMissing(leadNumber(n), market.WebhookPosted, Payload{campaign: market.PermanentNumber(n), sellerLeadID: strings.Repeat("x", test.text)})
			}
			if len(c.payloads) != test.kept || len(c.queue) != test.kept || c.textSize != test.kept*test.text {
				t.Errorf("%d payloads, %d in the queue, %d bytes; want %d", len(c.payloads), len(c.queue), c.textSize, test.kept)
			}
			for _, n := range []int{0, more - 1} {
				if _, ok := c.FindPayload(leadNumber(n), market.WebhookPosted); ok {
					t.Errorf("payload %d is in the cache", n)
				}
			}
			for _, n := range []int{more, test.kept + more - 1} {
				if got, ok := c.FindPayload(leadNumber(n), market.WebhookPosted); !ok || got.campaign != market.PermanentNumber(n) {
					t.Errorf("payload %d is %+v, %v", n, got, ok)
				}
			}
		})
	}
}

// TestCacheAgainstMap compares a small cache with a map.
func TestCacheAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c PayloadCache
		all := map[webhookEventKey]Payload{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := webhookEventKey{leadNumber(rapid.IntRange(0, 20).Draw(t, "lead")), market.WebhookType(rapid.IntRange(0, 3).Draw(t, "type"))}
			if rapid.Bool().Draw(t, "put") {
				p := Payload{sellerLeadID: rapid.StringN(0, 9, -1).Draw(t, "uuid"), reason: "r", payout: market.Money(rapid.IntRange(0, 9).Draw(t, "payout"))}
				c.AddPayloadIfMissing(key.lead, key.kind, p)
				if _, exists := all[key]; !exists {
					all[key] = p
				}
			}
			got, ok := c.FindPayload(key.lead, key.kind)
			if want, known := all[key]; ok != known || got != want {
				t.Fatalf("%v is %+v, want %+v", key, got, want)
			}
		}
		texts := 0
		for _, p := range all {
			texts += p.textBytes()
		}
		if c.textSize != texts || len(c.queue) != len(all) {
			t.Errorf("%d bytes in %d payloads, want %d in %d", c.textSize, len(c.queue), texts, len(all))
		}
	})
}
