package refbuyer

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseLatency(t *testing.T) {
	const ms = time.Millisecond
	rows := []struct {
		text          string
		low, mid, top time.Duration // at 0, 0.5 and 0.99
	}{
		{"20ms", 20 * ms, 20 * ms, 20 * ms},
		{"0s", 0, 0, 0},
		{"10ms-50ms", 10 * ms, 30 * ms, 49600 * time.Microsecond},
		{"0s-1s", 0, 500 * ms, 990 * ms},
		{"exp:20ms", 0, 13863 * time.Microsecond, 92103 * time.Microsecond},
		{"exp:0s", 0, 0, 0},
		{"exp:1m", 0, 41589 * ms, maxLatency},
		{"lognormal:20ms,0.5", 0, 20 * ms, 64001 * time.Microsecond},
		{"lognormal:20ms,0", 20 * ms, 20 * ms, 20 * ms},
		{"lognormal:30s,5", 0, 30 * time.Second, maxLatency},
		{"20ms+hang:0.01", maxLatency, 20 * ms, 20 * ms},
		{"10ms-50ms+hang:0.5", maxLatency, 10 * ms, 49200 * time.Microsecond},
		{"lognormal:20ms,0.5+hang:0.2", maxLatency, 17061 * time.Microsecond, 61280 * time.Microsecond},
		{"exp:20ms+hang:0", 0, 13863 * time.Microsecond, 92103 * time.Microsecond},
		{"normal:20ms,5ms", 0, 20 * ms, 31632 * time.Microsecond},
		{"normal:20ms,5ms+hang:0", 0, 20 * ms, 31632 * time.Microsecond},
		{"table:50=10ms,99=80ms,100=200ms", 10 * ms, 10 * ms, 80 * ms},
		{"table:0=0s,100=100ms", 0, 50 * ms, 99 * ms},
		{"table:10=1ms,90=5ms", ms, 3 * ms, 5 * ms},
		{"20ms+hang:1", maxLatency, maxLatency, maxLatency},
	}
	for _, row := range rows {
		got, err := ParseLatency(row.text)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		for quantile, want := range map[float64]time.Duration{0: row.low, 0.5: row.mid, 0.99: row.top} {
			if at := got.At(quantile); math.Abs(float64(at-want)) > max(float64(want)*0.002, float64(ms)/2) {
				t.Errorf("%s at %v: %v, want %v", row.text, quantile, at, want)
			}
		}
	}
}

func TestNoLatency(t *testing.T) {
	rows := []struct{ text, says string }{
		{"", "is not a duration"},
		{"20", "is not a duration"},
		{"fast", "is not a duration"},
		{"10ms-", "is not a duration"},
		{"1ms-2ms-3ms", "is not a duration"},
		{"-5ms", "is not a duration"},
		{"50ms-10ms", "smaller time first"},
		{"10ms-2h", "from 0 to 1m0s"},
		{"2m", "from 0 to 1m0s"},
		{"exp:", "is not a duration"},
		{"exp:-1s", "from 0 to"},
		{"exp:10ms-20ms", "is not a duration"},
		{"gauss:20ms", `unknown distribution "gauss"`},
		{"lognormal:20ms", "sigma"},
		{"lognormal:20ms,", "sigma"},
		{"lognormal:20ms,-1", "sigma"},
		{"lognormal:20ms,NaN", "sigma"},
		{"lognormal:20ms,5.1", "sigma"},
		{"lognormal:x,1", "is not a duration"},
		{"20ms+", "hang:"},
		{"20ms+hang", "hang:"},
		{"20ms+hang:", "hang:"},
		{"20ms+hang:2", "hang:"},
		{"20ms+hang:NaN", "hang:"},
		{"20ms+0.01", "hang:"},
		{"+hang:0.1", "is not a duration"},
		{"20ms+hang:0.1+hang:0.1", "hang:"},
		{"table:", "percentiles from 0 to 100"},
		{"table:101=5ms", "percentiles from 0 to 100"},
		{"table:50=5ms,50=6ms", "in order"},
		{"table:50=5ms,60=4ms", "in order"},
		{"table:50=soon", "not a duration"},
		{"normal:5ms", "deviation"},
		{"normal:soon,5ms", "not a duration"},
	}
	for _, row := range rows {
		got, err := ParseLatency(row.text)
		if err == nil || !strings.Contains(err.Error(), `latency "`+row.text+`"`) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: got %v, %v", row.text, got, err)
		}
	}
}
