package buyer

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
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
		name    string
		line    *line
		kept    bool
		want    trip
		verdict market.Verdict
	}{
		{"nothing, on a new one", overWire(&wire{Conn: brittle{}}), false, trip{fault: market.FaultBroken}, market.VerdictUnreached},
		{"nothing, on a kept one", overWire(&wire{Conn: brittle{}, given: 99}), true, trip{fault: market.FaultBroken, stale: true}, market.VerdictUnreached},
		{"a byte", overWire(&wire{Conn: brittle{takes: 1}}), false, trip{fault: market.FaultBroken, sent: true}, unknown},
		{"a byte, on a kept one", overWire(&wire{Conn: brittle{takes: 1}, given: 99}), true, trip{fault: market.FaultBroken, sent: true, stale: true}, unknown},
		{"part of a record", overTLS(&wire{Conn: brittle{takes: 1}}), false, trip{fault: market.FaultBroken, sent: true}, unknown},
		{"no part of a record", overTLS(&wire{Conn: brittle{}}), false, trip{fault: market.FaultBroken}, market.VerdictUnreached},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			client := newClient(t, nil)
			var response fasthttp.Response
			request := anySending(time.Now().Add(ample)).compose(nil, "")
			row.line.kept = row.kept
			got, keep := client.openHost(origin{}).converse(row.line, request, &response, time.Now().Add(ample), false)
			if got != row.want || keep {
				t.Errorf("got %+v, keep %v, want %+v", got, keep, row.want)
			}
			if r := client.judge(nil, got, &response); r.Verdict != row.verdict {
				t.Errorf("got %v, want %v", r.Verdict, row.verdict)
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
	request := anySending(deadline).compose(nil, "")
	newClient(t, nil).openHost(origin{}).converse(&line{Conn: w, wire: w}, request, &response, deadline, false)
	if len(got) != 1 || !got[0].Equal(deadline) {
		t.Errorf("deadlines %v, want %v alone", got, deadline)
	}
}

func anySending(deadline time.Time) *sending {
	at := &account{target: &target{authority: "blue.example", path: "/"}}
	at.writeHead()
	return &sending{account: at, body: []byte("{}"), deadline: deadline}
}

// TestFaults: an error of the pool is no error of dialing, and the cause of one
// is kept.
func TestFaults(t *testing.T) {
	failed := &dialError{market.FaultTLS, errors.New("bad certificate")}
	if got := dialFault(failed); got != market.FaultTLS {
		t.Errorf("dialing: %v", got)
	}
	for _, err := range []error{fasthttp.ErrNoFreeConns, fasthttp.ErrTimeout} {
		if got := dialFault(err); got != market.FaultCrowded {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !errors.Is(failed, failed.cause) || failed.Error() != "tls: bad certificate" {
		t.Errorf("%v", failed)
	}
}
