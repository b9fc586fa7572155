package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// TokenBuckets holds one token bucket per key, such as a client network. A new key has a full
// bucket.
//
// AuthFailureLimiter takes a token only after a credential has turned out to be wrong. So a
// valid credential works behind the same NAT or proxy as an attacker. Rejected: answering 429
// before the credential is checked, because that would reject valid ones too. Only checks of
// operators' passwords do that, because they are expensive.
//
// Clients choose their keys, so the memory is of a fixed size: a keyed hash assigns a key
// to one of many small sets. A new key replaces the one in its set whose bucket is full
// soonest. A client with so many addresses gets a full bucket from each of them anyway. A set is
// allocated with its first key, because most tables have few keys.
type TokenBuckets[K comparable] struct {
	interval time.Duration // time until one token is back
	capacity time.Duration // time until an empty bucket is full
	seed     maphash.Seed

	mu   sync.Mutex
	sets [bucketSets]*[bucketWays]bucket[K] // nil: no key yet
}

const (
	bucketSets = 2048
	bucketWays = 8
)

// bucket is the token bucket of one key. The time at which it is full again determines how many
// tokens it has now.
type bucket[K comparable] struct {
	key  K
	full int64 // Unix nanoseconds: when the bucket is full
}

func NewNetworkBuckets(perSecond int) *TokenBuckets[netip.Prefix] {
	return NewTokenBuckets[netip.Prefix](time.Second/time.Duration(perSecond), perSecond)
}

// NewTokenBuckets returns buckets that hold burst tokens and regain one token after each time
// refillInterval.
func NewTokenBuckets[K comparable](refillInterval time.Duration, burst int) *TokenBuckets[K] {
	return &TokenBuckets[K]{interval: refillInterval, capacity: refillInterval * time.Duration(burst), seed: maphash.MakeSeed()}
}

// Take takes a token from the bucket of the key, at the time nowNanos in Unix nanoseconds. If
// the bucket is empty, allowed is false, and wait is the time until the next token. wait is at
// most one interval, so that a clock that was set back blocks clients no longer. bucketFullAtNanos is the
// time at which the bucket is full again.
func (s *TokenBuckets[K]) Take(key K, nowNanos int64) (allowed bool, wait time.Duration, bucketFullAtNanos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.findOrReplaceLocked(key)
	one.full = min(one.full, nowNanos+int64(s.capacity))
	next := max(one.full, nowNanos) + int64(s.interval)
	if over := time.Duration(next-nowNanos) - s.capacity; over > 0 {
		return false, over, one.full
	}
	one.full = next
	return true, 0, next
}

// Burst returns the number of tokens in a full bucket.
func (s *TokenBuckets[K]) Burst() int { return int(s.capacity / s.interval) }

// Remaining returns how many tokens a bucket has at the time nowNanos if it is full again at the
// time bucketFullAtNanos.
func (s *TokenBuckets[K]) Remaining(nowNanos, bucketFullAtNanos int64) int {
	return int((s.capacity - time.Duration(max(0, bucketFullAtNanos-nowNanos))) / s.interval)
}

// Refund gives a token back to the bucket of the key, because the event that Take counted
// does not count after all.
func (s *TokenBuckets[K]) Refund(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findOrReplaceLocked(key).full -= int64(s.interval)
}

func (s *TokenBuckets[K]) findOrReplaceLocked(key K) *bucket[K] {
	at := &s.sets[maphash.Comparable(s.seed, key)%bucketSets]
	if *at == nil {
		*at = new([bucketWays]bucket[K])
	}
	set := *at
	first := &set[0]
	for i := range set {
		if set[i].key == key {
			return &set[i]
		}
		if set[i].full < first.full {
			first = &set[i]
		}
	}
	*first = bucket[K]{key: key}
	return first
}
