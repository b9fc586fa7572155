package refbuyer

import (
	"fmt"
	"math"
	"testing"
)

// TestChance: draws depend on all inputs, and only on them.
func TestChance(t *testing.T) {
	one := chance(1).draw(drawFail, []byte("key"), 1)
	for name, other := range map[string]float64{
		"seed":    chance(2).draw(drawFail, []byte("key"), 1),
		"what":    chance(1).draw(drawTaken, []byte("key"), 1),
		"key":     chance(1).draw(drawFail, []byte("kez"), 1),
		"attempt": chance(1).draw(drawFail, []byte("key"), 2),
		"no key":  chance(1).draw(drawFail, nil, 1),
	} {
		if other == one {
			t.Errorf("another %s, the same draw", name)
		}
	}
	if chance(1).draw(drawFail, []byte("key"), 1) != one {
		t.Error("the same draw twice is two numbers")
	}
	if chance(1).sign("ab", []byte("c")) == chance(1).sign("a", []byte("bc")) {
		t.Error("a purpose that runs into its text")
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
