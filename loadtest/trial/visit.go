package trial

import (
	"sync/atomic"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// timed is what has a latency, in the order of scenario.AllTimed.
type timed uint8

const (
	timedIngest timed = iota
	timedPing
	timedPost
	timedSale
	timeds
)

// visitor is what one line does with those who come.
type visitor struct {
	mix      *mix
	ingest   load.Ingest
	auctions load.Auctions
	record   *record
	underWay *atomic.Int64

	request []byte
}

// mix draws a kind by weight: for each number always the same one.
type mix struct {
	seed  uint64
	kinds []scenario.Kind // each as often as it weighs
}

func newMix(s *scenario.Scenario, seed uint64) *mix {
	m := &mix{seed: seed}
	for _, kind := range scenario.Kinds {
		for range s.Kinds[kind] {
			m.kinds = append(m.kinds, kind)
		}
	}
	return m
}

func (m *mix) of(number uint64) scenario.Kind {
	x := number + m.seed*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return m.kinds[(x^x>>31)%uint64(len(m.kinds))]
}

func (v *visitor) visit(line *load.Line, at load.Arrival) {
	v.underWay.Add(1)
	defer v.underWay.Add(-1)
	kind := v.mix.of(at.Number)
	if kind == scenario.Ingest {
		v.request = v.ingest.Append(v.request[:0], at.Number)
		v.ask(line, at, timedIngest, at.Due, true)
		return
	}
	v.request = v.auctions.AppendPing(v.request[:0], at.Number)
	bid, _ := v.ask(line, at, timedPing, at.Due, kind == scenario.Ping)
	if kind == scenario.Ping || bid.end != Sold {
		return
	}
	v.request = v.auctions.AppendPost(v.request[:0], at.Number, []byte(bid.token))
	sale, came := v.ask(line, at, timedPost, time.Now(), true)
	if sale.end == Sold {
		v.record.whole(at, came.Sub(at.Due))
	}
}

// ask sends the request that was written, and takes down what came of it. What is not
// sold is the last request of its arrival in any case.
func (v *visitor) ask(line *load.Line, at load.Arrival, what timed, since time.Time, last bool) (verdict, time.Time) {
	trip, err := line.Ask(v.request)
	now := verdict{}
	if err != nil {
		now, trip.Came = broken(err), time.Now()
	} else {
		now = judge(what, &trip.Answer)
	}
	v.record.add(at, what, trip.Came.Sub(since), &now, last || now.end != Sold)
	return now, trip.Came
}
