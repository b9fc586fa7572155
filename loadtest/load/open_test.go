package load

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// A sleep that is cut short, as a signal does, makes nobody come before the time.
func TestNobodyComesEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := Open{
			Lines: 2, Calendar: Calendar(Every(100), 0, time.Second),
			Sleep: func(d time.Duration) { time.Sleep(d/3 + 1) },
			Visit: func(int) func(*Line, Arrival) {
				return func(_ *Line, a Arrival) {
					if early := time.Until(a.Due); early > 0 {
						t.Errorf("arrival %d came %s early", a.Number, early)
					}
				}
			},
		}
		if passed := loop.Run(); passed.Arrivals != 99 || passed.Lag.Max() > 1000 {
			t.Errorf("%d arrivals, %d ns late", passed.Arrivals, passed.Lag.Max())
		}
	})
}

// Where every line is busy the loop is closed for that time, and says so: how many
// found it so, and how late it made them.
func TestALoopThatIsFullSaysSo(t *testing.T) {
	for _, test := range []struct {
		lines      int
		full       uint64
		late       time.Duration
		concurrent int
	}{
		{5, 0, 0, 5},
		{4, 3, 10 * time.Millisecond, 4}, // each that is due from 50 ms on waits for the one who came four before
		{1, 6, 240 * time.Millisecond, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			underWay, most := 0, 0
			var mu sync.Mutex
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				underWay += n
				most = max(most, underWay)
			}
			loop := Open{
				Lines: test.lines, Calendar: Calendar(Every(100), 0, 75*time.Millisecond), Sleep: time.Sleep,
				Visit: func(int) func(*Line, Arrival) {
					return func(*Line, Arrival) {
						count(1)
						time.Sleep(50*time.Millisecond - time.Nanosecond)
						count(-1)
					}
				},
			}
			passed := loop.Run()
			late := time.Duration(passed.Lag.Max())
			if passed.Arrivals != 7 || passed.Full != test.full || (late-test.late).Abs() > test.late/100+time.Microsecond || most != test.concurrent {
				t.Errorf("%d lines: %d of %d arrivals found all busy, %s late at most, %d at once", test.lines, passed.Full, passed.Arrivals, late, most)
			}
		})
	}
}

// A loop that is stopped begins nothing more, and waits for what it has begun.
func TestALoopThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(55*time.Millisecond, func() { close(stop) })
		var ended atomic.Int64
		loop := Open{
			Lines: 10, Calendar: Calendar(Every(100), 0, time.Second), Sleep: time.Sleep, Stop: stop,
			Visit: func(int) func(*Line, Arrival) {
				return func(*Line, Arrival) {
					time.Sleep(time.Second)
					ended.Add(1)
				}
			},
		}
		if passed := loop.Run(); passed.Arrivals != 5 || ended.Load() != 5 {
			t.Errorf("%d begun, %d ended", passed.Arrivals, ended.Load())
		}
	})
}

// The line that was free last is used first: few connections serve few at once.
func TestFewLinesServeFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		used := map[int]bool{}
		loop := Open{
			Lines: 50, Calendar: Calendar(Every(100), 0, time.Second), Sleep: time.Sleep,
			Visit: func(line int) func(*Line, Arrival) {
				return func(*Line, Arrival) {
					mu.Lock()
					used[line] = true
					mu.Unlock()
					time.Sleep(15 * time.Millisecond)
				}
			},
		}
		if loop.Run(); len(used) != 2 {
			t.Errorf("%d lines for two at a time", len(used))
		}
	})
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
