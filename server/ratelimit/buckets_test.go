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

// TestStrikes checks the burst and the refill of each network's bucket.
func TestStrikes(t *testing.T) {
	s, now := NewNetworkBuckets(10), time.Now().UnixNano()
	a, b := servertest.ParseNetwork("192.0.2.1/32"), servertest.ParseNetwork("2001:db8::/64")
	for i := range 10 {
		if ok, _, _ := s.Take(a, now); !ok {
			t.Errorf("the %d. of ten was too many", i+1)
		}
	}
	ok, wait, end := s.Take(a, now)
	if ok || wait != 100*time.Millisecond || end != now+int64(time.Second) {
		t.Errorf("the eleventh: %v, wait %s, all forgiven in %s", ok, wait, time.Duration(end-now))
	}
	if ok, _, _ := s.Take(b, now); !ok {
		t.Error("another network pays for the first")
	}
	if ok, _, _ := s.Take(a, now+int64(wait)); !ok {
		t.Error("after the wait it was still too many")
	}
	if ok, _, _ := s.Take(a, now+int64(wait)); ok {
		t.Error("what is refused takes time to be forgiven, too")
	}
	if ok, _, _ := s.Take(a, now-int64(time.Hour)); ok {
		t.Error("time that goes back forgives")
	}
}

// TestStrikesAgainstATable compares a few networks with a map of buckets.
func TestStrikesAgainstATable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 50).Draw(t, "rate")
		s, tokens, last := NewNetworkBuckets(rate), map[netip.Prefix]float64{}, map[netip.Prefix]int64{}
		now := int64(1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += rapid.Int64Range(0, int64(time.Second)/4).Draw(t, "later")
			from := servertest.ParseNetwork(fmt.Sprintf("192.0.2.%d/32", rapid.IntRange(1, 5).Draw(t, "from")))
			if at, known := last[from]; known {
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

// TestStrangersCannotGrowStrikes checks that a million networks take no more memory, and do
// not displace a network that keeps guessing.
func TestStrangersCannotGrowStrikes(t *testing.T) {
	s, now := NewNetworkBuckets(10), time.Now().UnixNano()
	guesser := servertest.ParseNetwork("192.0.2.1/32")
	refused := 0
	for i := range 1_000_000 {
		address := netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 16), byte(i >> 8), byte(i)})
		s.Take(clientaddr.NetworkOf(address), now)
		if i%1000 == 0 {
			if ok, _, _ := s.Take(guesser, now); !ok {
				refused++
			}
		}
		now += int64(time.Microsecond)
	}
	if refused < 900 {
		t.Errorf("only %d of 1000 guesses a millisecond apart were too many", refused)
	}
	held := 0
	for i := range s.sets {
		for j := range s.sets[i] {
			if s.sets[i][j].key.IsValid() {
				held++
			}
		}
	}
	if held > bucketSets*bucketWays {
		t.Errorf("%d are held", held)
	}
}

// TestStrikesWhereTheClockIsSetBack checks that after the clock is set back, the wait is at
// most one interval.
func TestStrikesWhereTheClockIsSetBack(t *testing.T) {
	s, now := NewBuckets[string](6*time.Second, 10), time.Now().UnixNano()
	for range 12 {
		s.Take("a", now)
	}
	for _, back := range []time.Duration{0, time.Second, time.Hour, 365 * 24 * time.Hour} {
		at := now - int64(back)
		allowed, wait, end := s.Take("a", at)
		if allowed || wait <= 0 || wait > 6*time.Second || end > at+int64(time.Minute) {
			t.Errorf("%v back: allowed %v, wait %v, all forgiven after %v", back, allowed, wait, time.Duration(end-at))
		}
		if allowed, _, _ := s.Take("a", at+int64(wait)); !allowed {
			t.Errorf("%v back: not after the wait that was told", back)
		}
	}
}
