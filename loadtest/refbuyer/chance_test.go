package refbuyer

import (
	"fmt"
	"math"
	"testing"
)

// TestChance: draws are uniform and depend on every input.
func TestChance(t *testing.T) {
	key := []byte("key")
	const draws = 20_000
	below := 0
	for i := range draws {
		if p := chance(1).draw(drawFail, key, i); p < 0 || p >= 1 {
			t.Fatalf("draw %v", p)
		} else if p < 0.25 {
			below++
		}
	}
	if below < draws/4-500 || below > draws/4+500 {
		t.Errorf("%d of %d draws below a quarter", below, draws)
	}
	one := chance(1).draw(drawFail, key, 1)
	for name, other := range map[string]float64{
		"seed":    chance(2).draw(drawFail, key, 1),
		"what":    chance(1).draw(drawTaken, key, 1),
		"key":     chance(1).draw(drawFail, []byte("kez"), 1),
		"attempt": chance(1).draw(drawFail, key, 2),
		"no key":  chance(1).draw(drawFail, nil, 1),
	} {
		if other == one {
			t.Errorf("another %s, the same draw", name)
		}
	}
	if chance(1).draw(drawFail, key, 1) != one {
		t.Error("the same draw twice is two numbers")
	}
}

// TestChanceOfSimilarKeys: consecutive keys give uniform draws, and draws for different
// decisions are independent.
func TestChanceOfSimilarKeys(t *testing.T) {
	const keys = 50_000
	var tenths, together [10]int
	for i := range keys {
		key := []byte(fmt.Sprintf("auc_%08d", i))
		p := chance(1).draw(drawNoBid, key, 0)
		tenths[int(p*10)]++
		if p < 0.5 {
			together[int(chance(1).draw(drawMalformed, key, 0)*10)]++
		}
	}
	for i := range tenths {
		if math.Abs(float64(tenths[i])-keys/10) > keys/100 || math.Abs(float64(together[i])-keys/20) > keys/100 {
			t.Errorf("tenth %d: %d draws, %d beside another", i, tenths[i], together[i])
		}
	}
}

func TestHappens(t *testing.T) {
	for i := range 1000 {
		key := fmt.Append(nil, i)
		if chance(3).happens(0, drawFail, key, 0) || !chance(3).happens(1, drawFail, key, 0) {
			t.Fatalf("key %d: never and always are not what they say", i)
		}
	}
}

// TestNames: generated identifiers are not longer than keys may be.
func TestNames(t *testing.T) {
	long := string(make([]byte, 255))
	names := map[string]bool{}
	for _, key := range []string{"", "a", "b", long, long + "a"} {
		for _, prefix := range []string{"ref_", "req_"} {
			for seed := range chance(3) {
				names[seed.name(prefix, key)] = true
			}
		}
	}
	if len(names) != 30 {
		t.Errorf("%d names of 30 keys, prefixes and seeds", len(names))
	}
	if a, b := chance(1).sign("ab", []byte("c")), chance(1).sign("a", []byte("bc")); a == b {
		t.Error("a purpose that runs into its text")
	}
}
