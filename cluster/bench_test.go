package cluster

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/wal"
)

// leadSize is the size of a sold lead's event, as measured with the demo's leads.
const leadSize = 668

type appender interface {
	Append(data []byte, w wal.Waiter) error
}

// timed is a waiter that ends a caller's append.
type timed struct{ done chan error }

func (w timed) Committed(uint64, int64) { w.done <- nil }
func (w timed) Failed(err error)        { w.done <- err }

// BenchmarkCommit compares the commits of a single node with those of three nodes in this process, for
// callers that each wait for their entry.
func BenchmarkCommit(b *testing.B) {
	for name, callers := range map[string]int{"64": 64, "256": 256, "1": 1} {
		b.Run("single/callers="+name, func(b *testing.B) {
			log := must.Value(wal.Open(b.TempDir(), wal.Options{}))(b)
			defer log.Close()
			commitInTurn(b, log, callers)
		})
		b.Run("cluster/callers="+name, func(b *testing.B) {
			c := startCluster(b, func(o *Options) { o.StateMachine = counting{o.Log} })
			leader, log := c.awaitLeader()
			commitInTurn(b, log, callers)
			must.Succeed(b, leader.Err())
		})
	}
}

// counting is a state machine without a state.
type counting struct{ log *wal.Replica }

func (counting) Apply(uint64, int64, []byte) error { return nil }

func (c counting) Hash() (seq, hash uint64) {
	seq, _ = c.log.LastEntry()
	return seq, 0
}

func commitInTurn(b *testing.B, log appender, callers int) {
	b.Helper()
	data := bytes.Repeat([]byte("x"), leadSize)
	took := make([][]time.Duration, callers)
	b.ResetTimer()
	done := make(chan struct{})
	for caller := range callers {
		go func() {
			w := timed{make(chan error, 1)}
			for i := caller; i < b.N; i += callers {
				began := time.Now()
				if err := log.Append(data, w); err != nil {
					b.Error(err)
					break
				}
				if err := <-w.done; err != nil {
					b.Error(err)
					break
				}
				took[caller] = append(took[caller], time.Since(began))
			}
			done <- struct{}{}
		}()
	}
	for range callers {
		<-done
	}
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}
