package load

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestArrivalsComeAtTheirRate(t *testing.T) {
	const rate, n = 200.0, 20_000
	for name, arrivals := range map[string]Arrivals{"even": Even(rate), "poisson": Poisson(rate, 1)} {
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
		want := map[string]float64{"even": 0, "poisson": 1}[name] // of the mean; the standard deviation of an exponential equals its mean
		if math.Abs(mean*rate-1) > 0.05 || math.Abs(deviation*rate-want) > 0.05 {
			t.Errorf("%s: gaps of %v s on average, deviation %v", name, mean, deviation)
		}
	}
}

// visits records the arrivals of an open loop.
type visits struct {
	mu   sync.Mutex
	seen map[uint64]Arrival
}

// TestEveryArrivalIsHandledOnce: with any number of connections, each arrival has its own
// number and due time.
func TestEveryArrivalIsHandledOnce(t *testing.T) {
	for _, lines := range []int{1, 5} {
		v := visits{seen: map[uint64]Arrival{}}
		loop := OpenLoop{
			Connections: lines, Schedule: Schedule(Even(1000), 20*time.Millisecond, 80*time.Millisecond), First: 500,
			Sleep: time.Sleep,
			Handler: func(int) func(*Conn, Arrival) {
				return func(_ *Conn, a Arrival) {
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

// TestInterruptedSleep: an interrupted sleep starts no arrival early.
func TestInterruptedSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := OpenLoop{
			Connections: 2, Schedule: Schedule(Even(100), 0, time.Second),
			Sleep: func(d time.Duration) { time.Sleep(d/3 + 1) },
			Handler: func(int) func(*Conn, Arrival) {
				return func(_ *Conn, a Arrival) {
					if early := time.Until(a.Due); early > 0 {
						t.Errorf("arrival %d came %s early", a.Number, early)
					}
				}
			},
		}
		if stats := loop.Run(); stats.Arrivals != 99 || stats.Lag.Max() > 1000 {
			t.Errorf("%d arrivals, %d ns late", stats.Arrivals, stats.Lag.Max())
		}
	})
}

// While every connection is busy, the loop is closed. It reports the number of waiting
// arrivals and their delay.
func TestBusyConnectionsAreReported(t *testing.T) {
	for _, test := range []struct {
		lines      int
		full       uint64
		late       time.Duration
		concurrent int
	}{
		{5, 0, 0, 5},
		{4, 3, 10 * time.Millisecond, 4}, // each arrival that is due from 50 ms on waits for the one four before it
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
			loop := OpenLoop{
				Connections: test.lines, Schedule: Schedule(Even(100), 0, 75*time.Millisecond), Sleep: time.Sleep,
				Handler: func(int) func(*Conn, Arrival) {
					return func(*Conn, Arrival) {
						count(1)
						time.Sleep(50*time.Millisecond - time.Nanosecond)
						count(-1)
					}
				},
			}
			stats := loop.Run()
			late := time.Duration(stats.Lag.Max())
			if stats.Arrivals != 7 || stats.Full != test.full || (late-test.late).Abs() > test.late/100+time.Microsecond || most != test.concurrent {
				t.Errorf("%d lines: %d of %d arrivals found all busy, %s late at most, %d at once", test.lines, stats.Full, stats.Arrivals, late, most)
			}
		})
	}
}

// A stopped loop starts no arrival and waits for those that started.
func TestStoppedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(55*time.Millisecond, func() { close(stop) })
		var ended atomic.Int64
		loop := OpenLoop{
			Connections: 10, Schedule: Schedule(Even(100), 0, time.Second), Sleep: time.Sleep, Stop: stop,
			Handler: func(int) func(*Conn, Arrival) {
				return func(*Conn, Arrival) {
					time.Sleep(time.Second)
					ended.Add(1)
				}
			},
		}
		if stats := loop.Run(); stats.Arrivals != 5 || ended.Load() != 5 {
			t.Errorf("%d begun, %d ended", stats.Arrivals, ended.Load())
		}
	})
}

// The connection that became idle last is used first, so few connections are in use.
func TestLastIdleConnectionIsUsedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		used := map[int]bool{}
		loop := OpenLoop{
			Connections: 50, Schedule: Schedule(Even(100), 0, time.Second), Sleep: time.Sleep,
			Handler: func(line int) func(*Conn, Arrival) {
				return func(*Conn, Arrival) {
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
