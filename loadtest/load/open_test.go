package load

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

func TestArrivalsComeAtTheirRate(t *testing.T) {
	const rate, n = 200.0, 20_000
	for name, arrivals := range map[string]Arrivals{"even": Every(rate), "poisson": Poisson(rate, 1)} {
		var sum, squares float64
		for range n {
			gap := arrivals().Seconds()
			if gap < 0 {
				t.Fatalf("%s: a gap of %v", name, gap)
			}
			sum += gap
			squares += gap * gap
		}
		mean := sum / n
		deviation := math.Sqrt(max(0, squares/n-mean*mean))
		want := map[string]float64{"even": 0, "poisson": 1}[name] // of the mean: that of an exponential is its mean
		if math.Abs(mean*rate-1) > 0.05 || math.Abs(deviation*rate-want) > 0.05 {
			t.Errorf("%s: gaps of %v s on average, deviation %v", name, mean, deviation)
		}
	}
}

func TestOneSeedIsOneProcess(t *testing.T) {
	a, same, other := Poisson(100, 7), Poisson(100, 7), Poisson(100, 8)
	differ := false
	for range 100 {
		gap := a()
		if gap != same() {
			t.Fatal("the same seed gives other arrivals")
		}
		differ = differ || gap != other()
	}
	if !differ {
		t.Error("another seed gives the same arrivals")
	}
}

// visits are what an open loop was seen to do.
type visits struct {
	mu   sync.Mutex
	seen map[uint64]Arrival
}

// Every arrival is visited once, whatever the number of lines, and its number
// and its due time are its own.
func TestEveryArrivalIsVisitedOnce(t *testing.T) {
	for _, lines := range []int{1, 5} {
		v := visits{seen: map[uint64]Arrival{}}
		loop := Open{
			Lines: lines, Calendar: Calendar(Every(1000), 20*time.Millisecond, 80*time.Millisecond), From: 500,
			Sleep: time.Sleep,
			Visit: func(int) func(*Line, Arrival) {
				return func(_ *Line, a Arrival) {
					v.mu.Lock()
					defer v.mu.Unlock()
					if _, twice := v.seen[a.Number]; twice {
						t.Errorf("arrival %d was visited twice", a.Number)
					}
					v.seen[a.Number] = a
				}
			},
		}
		if n := loop.Run().Arrivals; n != 99 || len(v.seen) != 99 { // at 1, 2, … 99 ms
			t.Fatalf("%d arrivals, %d visited", n, len(v.seen))
		}
		for i := range uint64(99) {
			a := v.seen[500+i]
			if after := a.Due.Sub(v.seen[500].Due); after != time.Duration(i)*time.Millisecond {
				t.Errorf("arrival %d was due %s after the first", i, after)
			}
			if a.Measured != (i >= 19) {
				t.Errorf("arrival %d is measured: %v", i, a.Measured)
			}
		}
	}
}

// A server that stands still makes later arrivals wait, and their wait is
// theirs: a closed loop would not have sent them.
func TestAStallIsFeltByAllWhoComeMeanwhile(t *testing.T) {
	const stall = 200 * time.Millisecond
	var first sync.Once
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		first.Do(func() { time.Sleep(stall) })
		ctx.SetBodyString(aBid)
	})
	s := sellerOf(addr, false)
	loop := Open{
		Addr: addr, Lines: 1, Calendar: Calendar(Every(100), 0, 100*time.Millisecond), Sleep: time.Sleep,
		Visit: func(int) func(*Line, Arrival) { return s.Visit },
	}
	if n := loop.Run().Arrivals; n != 9 || s.Sold != 9 {
		t.Fatalf("%d arrivals, %d sold: %s", n, s.Sold, s.Trouble)
	}
	// The last came 80 ms after the one that was held up for 200.
	if least := time.Duration(s.Bids.Min()); least < stall-80*time.Millisecond-time.Millisecond {
		t.Errorf("one arrival has waited %s", least)
	}
}
