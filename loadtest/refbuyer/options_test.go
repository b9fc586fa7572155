package refbuyer

import (
	"math"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

func TestParseLatency(t *testing.T) {
	rows := []struct {
		text          string
		low, mid, top time.Duration // at 0, a half, and close to 1
	}{
		{"20ms", 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond},
		{"0s", 0, 0, 0},
		{"10ms-50ms", 10 * time.Millisecond, 30 * time.Millisecond, 50 * time.Millisecond},
		{"0s-1s", 0, 500 * time.Millisecond, time.Second},
	}
	for _, row := range rows {
		got, err := ParseLatency(row.text)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		almost := got.At(1 - 1e-9)
		if got.At(0) != row.low || got.At(0.5) != row.mid || almost > row.top || row.top-almost > time.Microsecond {
			t.Errorf("%s: from %v over %v to %v", row.text, got.At(0), got.At(0.5), almost)
		}
	}
	for _, wrong := range []string{"", "20", "fast", "-5ms", "50ms-10ms", "10ms-", "10ms-2h", "1ms-2ms-3ms", "2m"} {
		if got, err := ParseLatency(wrong); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: got %v, %v", wrong, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	rows := []struct {
		options Options
		want    string
	}{
		{Options{RejectRate: -0.1}, "reject rate"},
		{Options{RejectRate: math.NaN()}, "reject rate"},
		{Options{FailRate: 1.1}, "fail rate"},
		{Options{Bid: -1}, "bid"},
		{Options{Bid: market.MaxMoney + 1}, "bid"},
		{Options{Remember: -1}, "remember"},
		{Options{Listen: "nowhere.invalid:0"}, "cannot listen"},
		{Options{Listen: "127.0.0.1"}, "cannot listen"},
	}
	for _, row := range rows {
		b, err := New(row.options)
		if err == nil {
			_ = b.Close()
			t.Errorf("%+v was taken", row.options)
			continue
		}
		if !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row.options, err)
		}
	}
	_, err := New(Options{RejectRate: 2, FailRate: 2})
	if err == nil || !strings.Contains(err.Error(), "reject rate") || !strings.Contains(err.Error(), "fail rate") {
		t.Errorf("two mistakes at once: %v", err)
	}
}

// TestChance: draws are spread evenly, and depend on everything they should.
func TestChance(t *testing.T) {
	const draws = 20_000
	below := 0
	for i := range draws {
		if p := chance(1).draw(drawFail, "key", i); p < 0 || p >= 1 {
			t.Fatalf("draw %v", p)
		} else if p < 0.25 {
			below++
		}
	}
	if below < draws/4-500 || below > draws/4+500 {
		t.Errorf("%d of %d draws below a quarter", below, draws)
	}
	one := chance(1).draw(drawFail, "key", 1)
	for name, other := range map[string]float64{
		"seed":    chance(2).draw(drawFail, "key", 1),
		"what":    chance(1).draw(drawTaken, "key", 1),
		"key":     chance(1).draw(drawFail, "kez", 1),
		"attempt": chance(1).draw(drawFail, "key", 2),
		"border":  chance(1).draw(drawFail+"k", "ey", 1),
	} {
		if other == one {
			t.Errorf("another %s, the same draw", name)
		}
	}
	if chance(1).draw(drawFail, "key", 1) != one {
		t.Error("the same draw twice is two numbers")
	}
}
