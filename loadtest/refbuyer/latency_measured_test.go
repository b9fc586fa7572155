package refbuyer

import (
	"math"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestATableIsReadBetweenItsEntries(t *testing.T) {
	table, err := ParseLatency("table:50=10ms,99=80ms,100=200ms")
	if err != nil {
		t.Fatal(err)
	}
	for quantile, want := range map[float64]time.Duration{
		0: 10 * ms, 0.25: 10 * ms, 0.5: 10 * ms, 0.745: 45 * ms, 0.99: 80 * ms, 0.995: 140 * ms, 0.99999: 200 * ms,
	} {
		if got := table.At(quantile); (got - want).Abs() > ms {
			t.Errorf("at %v it is %s, want %s", quantile, got, want)
		}
	}
	if last := (Table{{0, ms}, {90, 5 * ms}}).At(0.95); last != 5*ms {
		t.Errorf("past its last entry: %s", last)
	}
}

func TestNormalTimes(t *testing.T) {
	normal, err := ParseLatency("normal:20ms,5ms")
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	const n = 20_000
	for i := range n {
		at := normal.At((float64(i)+0.5)/n).Seconds() * 1000
		sum += at
		squares += at * at
	}
	mean := sum / n
	if deviation := math.Sqrt(squares/n - mean*mean); math.Abs(mean-20) > 0.1 || math.Abs(deviation-5) > 0.1 {
		t.Errorf("mean %v ms, deviation %v ms", mean, deviation)
	}
	if wide := (Normal{ms, time.Second}); wide.At(0.001) != 0 || wide.At(0) != 0 {
		t.Error("a time below 0")
	}
}

func TestMeasuredFormsAtFault(t *testing.T) {
	for text, says := range map[string]string{
		"table:":                  "percentiles from 0 to 100",
		"table:101=5ms":           "percentiles from 0 to 100",
		"table:50=5ms,50=6ms":     "in order",
		"table:50=5ms,60=4ms":     "in order",
		"table:50=soon":           "not a duration",
		"normal:5ms":              "deviation",
		"normal:soon,5ms":         "not a duration",
		"normal:5ms,2ms+hang:two": "share from 0 to 1",
	} {
		if _, err := ParseLatency(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
