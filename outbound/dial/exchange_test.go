package dial

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// brittle is a connection whose writes end after so many bytes. It keeps the
// deadlines that it was given, where it is given a place for them.
type brittle struct {
	net.Conn
	takes     int
	deadlines *[]time.Time
}

func (b brittle) Write(p []byte) (int, error) {
	return min(b.takes, len(p)), syscall.ECONNRESET
}

func (b brittle) SetDeadline(at time.Time) error {
	if b.deadlines != nil {
		*b.deadlines = append(*b.deadlines, at)
	}
	return nil
}

// lost is TLS as it may fail: the record is out in part, and the writer is told
// of nothing.
type lost struct {
	net.Conn
	below net.Conn
}

func (l lost) Write(p []byte) (int, error) {
	_, err := l.below.Write(p)
	return 0, err
}
func (lost) SetDeadline(time.Time) error { return nil }

// TestSent: what the wire took decides whether the request may have arrived,
// and not what the writer was told.
func TestSent(t *testing.T) {
	overWire := func(w *wire) *line { return &line{Conn: w, wire: w} }
	overTLS := func(w *wire) *line { return &line{Conn: lost{below: w}, wire: w} }
	rows := []struct {
		name string
		line *line
		kept bool
		want Trip
	}{
		{"nothing, on a new one", overWire(&wire{Conn: brittle{}}), false, Trip{Fault: market.FaultBroken}},
		{"nothing, on a kept one", overWire(&wire{Conn: brittle{}, given: 99}), true, Trip{Fault: market.FaultBroken, stale: true}},
		{"a byte", overWire(&wire{Conn: brittle{takes: 1}}), false, Trip{Fault: market.FaultBroken, Sent: true}},
		{"a byte, on a kept one", overWire(&wire{Conn: brittle{takes: 1}, given: 99}), true, Trip{Fault: market.FaultBroken, Sent: true, stale: true}},
		{"part of a record", overTLS(&wire{Conn: brittle{takes: 1}}), false, Trip{Fault: market.FaultBroken, Sent: true}},
		{"no part of a record", overTLS(&wire{Conn: brittle{}}), false, Trip{Fault: market.FaultBroken}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var response fasthttp.Response
			row.line.kept = row.kept
			got, keep := open(t, nil).openHost(origin{}, new(atomic.Int64), 16).converse(row.line, anything(time.Now().Add(ample)), &response)
			if got != row.want || keep {
				t.Errorf("got %+v, keep %v, want %+v", got, keep, row.want)
			}
		})
	}
}

// TestDeadline: one for reading and writing, and nothing sets another.
func TestDeadline(t *testing.T) {
	var got []time.Time
	w := &wire{Conn: brittle{deadlines: &got}}
	var response fasthttp.Response
	deadline := time.Now().Add(ample)
	open(t, nil).openHost(origin{}, new(atomic.Int64), 16).converse(&line{Conn: w, wire: w}, anything(deadline), &response)
	if len(got) != 1 || !got[0].Equal(deadline) {
		t.Errorf("deadlines %v, want %v alone", got, deadline)
	}
}

// TestSilenceEndsAtTheDeadline: the wait for an answer's first byte knows it, and
// a request that had no time left is not sent.
func TestSilenceEndsAtTheDeadline(t *testing.T) {
	e := dialtest.Listen(t, dialtest.Hangs(""))
	hosts := open(t, nil)
	target := find(t, hosts, "http://"+e.Address+"/")
	conn, err := hosts.dialer.dial(origin{name: "127.0.0.1", port: strings.TrimPrefix(e.Address, "127.0.0.1:")}, ample)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, row := range []struct {
		deadline time.Duration
		want     Trip
	}{
		{-time.Second, Trip{Fault: market.FaultTimeout}},
		{100 * time.Millisecond, Trip{Fault: market.FaultTimeout, Sent: true}},
	} {
		var response fasthttp.Response
		got, keep := target.host.converse(conn.(*line), anything(time.Now().Add(row.deadline)), &response)
		if got != row.want || keep {
			t.Errorf("%v: got %+v, keep %v, want %+v", row.deadline, got, keep, row.want)
		}
	}
}

// TestFaults: an error of the pool is no error of dialing, and the cause of one
// is kept.
func TestFaults(t *testing.T) {
	failed := &dialError{market.FaultTLS, errors.New("bad certificate")}
	if got := dialFault(failed); got != market.FaultTLS {
		t.Errorf("dialing: %v", got)
	}
	for _, err := range []error{fasthttp.ErrNoFreeConns, fasthttp.ErrTimeout} {
		if got := dialFault(err); got != market.FaultConnectionLimit {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !errors.Is(failed, failed.cause) || failed.Error() != "tls: bad certificate" {
		t.Errorf("%v", failed)
	}
}
