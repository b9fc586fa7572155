package wal

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ack lets one appender wait for one entry after another without allocating.
type ack struct{ c chan struct{} }

func (a ack) Committed(uint64, int64) { a.c <- struct{}{} }
func (a ack) Failed(error)            { close(a.c) }

// BenchmarkCommit measures acknowledged entries of 512 bytes from concurrent appenders,
// each waiting for its own entry.
func BenchmarkCommit(b *testing.B) {
	for _, appenders := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("appenders=%d", appenders), func(b *testing.B) {
			var sync0 time.Duration
			l := mustOpen(b, b.TempDir(), Options{Observe: func(x BatchStats) { sync0 += x.Sync }})
			data := make([]byte, 512)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var done sync.WaitGroup
			for range appenders {
				done.Go(func() {
					a := ack{make(chan struct{}, 1)}
					var w Waiter = a
					for left.Add(-1) >= 0 {
						if err := l.Append(data, w); err != nil {
							b.Error(err)
							return
						}
						<-a.c
					}
				})
			}
			done.Wait()
			b.StopTimer()
			s := l.Stats()
			b.ReportMetric(float64(s.Entries)/b.Elapsed().Seconds(), "entries/s")
			b.ReportMetric(float64(s.Entries)/float64(s.Batches), "entries/batch")
			b.ReportMetric(float64(sync0.Microseconds())/float64(s.Batches), "µs/fsync")
		})
	}
}
