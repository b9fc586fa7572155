package ratelimit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/server/clientaddr"
	"pingpost/server/servertest"
)

// TestBucketBurstAndRefill checks the burst and the refill of each network's bucket.
func TestBucketBurstAndRefill(t *testing.T) {
	s, now := NewNetworkBuckets(10), time.Now().UnixNano()
	a, b := servertest.ParseNetwork("192.0.2.1/32"), servertest.ParseNetwork("2001:db8::/64")
	for i := range 10 {
		if ok, _, _ := s.Take(a, now); !ok {
			t.Errorf("request %d of 10 was rejected", i+1)
		}
	}
	ok, wait, end := s.Take(a, now)
	if ok || wait != 100*time.Millisecond || end != now+int64(time.Second) {
		t.Errorf("request 11: allowed %v, wait %s, full in %s; want false, 100ms, 1s", ok, wait, time.Duration(end-now))
	}
	if ok, _, _ := s.Take(b, now); !ok {
		t.Error("the first network's requests count for another network")
	}
	if ok, _, _ := s.Take(a, now+int64(wait)); !ok {
		t.Error("a request after the wait was rejected")
	}
	if ok, _, _ := s.Take(a, now+int64(wait)); ok {
		t.Error("a second request after the wait was allowed")
	}
	if ok, _, _ := s.Take(a, now-int64(time.Hour)); ok {
		t.Error("an earlier time refilled the bucket")
	}
}

// TestBucketsMatchModel compares a few networks with a map of buckets.
func TestBucketsMatchModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 50).Draw(t, "rate")
		s, tokens, last := NewNetworkBuckets(rate), map[netip.Prefix]float64{}, map[netip.Prefix]int64{}
		now := int64(1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += rapid.Int64Range(0, int64(time.Second)/4).Draw(t, "later")
			from := servertest.ParseNetwork(fmt.Sprintf("192.0.2.%d/32", rapid.IntRange(1, 5).Draw(t, "from")))
			if at, found := last[from]; found {
				tokens[from] = min(float64(rate), tokens[from]+float64(now-at)*float64(rate)/1e9)
			} else {
				tokens[from] = float64(rate)
			}
			last[from] = now
			ok, _, _ := s.Take(from, now)
			if near := tokens[from] - 1; ok != (near >= 0) && (near > 1e-3 || near < -1e-3) {
				t.Fatalf("allowed %v with %f in the bucket", ok, tokens[from])
			}
			if ok {
				tokens[from]--
			}
		}
	})
}

// A million networks use no more memory than the table, and do not displace a network that
// keeps sending requests.
func TestBucketMemoryIsLimited(t *testing.T) {
	s, now := NewNetworkBuckets(10), time.Now().UnixNano()
	busy := servertest.ParseNetwork("192.0.2.1/32")
	rejected := 0
	for i := range 1_000_000 {
		address := netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 16), byte(i >> 8), byte(i)})
		s.Take(clientaddr.NetworkForLimits(address), now)
		if i%1000 == 0 {
			if ok, _, _ := s.Take(busy, now); !ok {
				rejected++
			}
		}
		now += int64(time.Microsecond)
	}
	if rejected < 900 {
		t.Errorf("only %d of 1000 requests a millisecond apart were rejected", rejected)
	}
	stored := 0
	for i := range s.sets {
		if s.sets[i] == nil {
			continue
		}
		for j := range s.sets[i] {
			if s.sets[i][j].key.IsValid() {
				stored++
			}
		}
	}
	if stored > bucketSets*bucketWays {
		t.Errorf("%d buckets are stored, more than the table has", stored)
	}
}

// TestBucketAfterClockIsSetBack checks that after the clock is set back, the wait is at
// most one interval.
func TestBucketAfterClockIsSetBack(t *testing.T) {
	s, now := NewTokenBuckets[string](6*time.Second, 10), time.Now().UnixNano()
	for range 12 {
		s.Take("a", now)
	}
	for _, back := range []time.Duration{0, time.Second, time.Hour, 365 * 24 * time.Hour} {
		at := now - int64(back)
		allowed, wait, end := s.Take("a", at)
		if allowed || wait <= 0 || wait > 6*time.Second || end > at+int64(time.Minute) {
			t.Errorf("%v back: allowed %v, wait %v, full after %v", back, allowed, wait, time.Duration(end-at))
		}
		if allowed, _, _ := s.Take("a", at+int64(wait)); !allowed {
			t.Errorf("%v back: a request after the wait was rejected", back)
		}
	}
}

// TestSetsAreAllocatedWithTheirFirstKey: a table with one key has one set.
func TestSetsAreAllocatedWithTheirFirstKey(t *testing.T) {
	t.Parallel()
	s := NewTokenBuckets[string](time.Second, 2)
	s.Take("key", 0)
	s.Take("key", 0)
	allocated := 0
	for _, set := range s.sets {
		if set != nil {
			allocated++
		}
	}
	if allocated != 1 {
		t.Errorf("%d sets are allocated", allocated)
	}
}
