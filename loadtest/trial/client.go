package trial

import (
	"sync/atomic"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// timedKind is a kind of measured latency, in the order of scenario.AllTimed.
type timedKind uint8

const (
	timedIngest timedKind = iota
	timedPing
	timedPost
	timedSale
	timedCount
)

// client handles the arrivals of one connection.
type client struct {
	mix      *mix
	ingest   load.Ingest
	auctions load.Auctions
	record   *recorder
	underWay *atomic.Int64

	request []byte
}

// mix chooses a request kind by weight. The choice depends only on the number and the
// seed.
type mix struct {
	seed  uint64
	kinds []scenario.Kind // repeated by weight
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

func (m *mix) kindOf(number uint64) scenario.Kind {
	x := number + m.seed*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return m.kinds[(x^x>>31)%uint64(len(m.kinds))]
}

func (v *client) handle(conn *load.Conn, at load.Arrival) {
	v.underWay.Add(1)
	defer v.underWay.Add(-1)
	kind := v.mix.kindOf(at.Number)
	if kind == scenario.Ingest {
		v.request = v.ingest.Append(v.request[:0], at.Number)
		v.send(conn, at, timedIngest, at.Due, true)
		return
	}
	v.request = v.auctions.AppendPing(v.request[:0], at.Number)
	bid, _ := v.send(conn, at, timedPing, at.Due, kind == scenario.Ping)
	if kind == scenario.Ping || bid.end != Sold {
		return
	}
	v.request = v.auctions.AppendPost(v.request[:0], at.Number, []byte(bid.token))
	sale, came := v.send(conn, at, timedPost, time.Now(), true)
	if sale.end == Sold {
		v.record.addSale(at, came.Sub(at.Due))
	}
}

// send sends the prepared request and records the answer. A request that is not sold is
// always the last of its arrival.
func (v *client) send(conn *load.Conn, at load.Arrival, what timedKind, since time.Time, last bool) (parsedAnswer, time.Time) {
	response, err := conn.Do(v.request)
	now := parsedAnswer{}
	if err != nil {
		now, response.Received = connectionError(err), time.Now()
	} else {
		now = parseAnswer(what, &response.Answer)
	}
	v.record.addSample(at, what, response.Received.Sub(since), &now, last || now.end != Sold)
	return now, response.Received
}
