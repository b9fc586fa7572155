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
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// failingConn accepts a number of bytes per write and then fails. It records the deadlines
// if deadlines is set.
type failingConn struct {
	net.Conn
	accepts   int
	deadlines *[]time.Time
}

func (b failingConn) Write(p []byte) (int, error) {
	return min(b.accepts, len(p)), syscall.ECONNRESET
}

func (b failingConn) SetDeadline(at time.Time) error {
	if b.deadlines != nil {
		*b.deadlines = append(*b.deadlines, at)
	}
	return nil
}

// lossyTLS is a failing TLS connection: it sends a part of a record and reports that it
// wrote no byte.
type lossyTLS struct {
	net.Conn
	socket net.Conn
}

func (l lossyTLS) Write(p []byte) (int, error) {
	_, err := l.socket.Write(p)
	return 0, err
}
func (lossyTLS) SetDeadline(time.Time) error { return nil }

// The bytes that the socket accepted decide whether the request may have arrived, not the
// count that Write returned.
func TestSentFollowsSocketBytes(t *testing.T) {
	overWire := func(w *socketConn) *outboundConn { return &outboundConn{Conn: w, socket: w} }
	overTLS := func(w *socketConn) *outboundConn { return &outboundConn{Conn: lossyTLS{socket: w}, socket: w} }
	rows := []struct {
		name string
		line *outboundConn
		kept bool
		want SendResult
	}{
		{"no byte, new connection", overWire(&socketConn{Conn: failingConn{}}), false, SendResult{Fault: market.FaultBroken}},
		{"no byte, kept connection", overWire(&socketConn{Conn: failingConn{}, sentBytes: 99}), true, SendResult{Fault: market.FaultBroken, staleConn: true}},
		{"a byte, new connection", overWire(&socketConn{Conn: failingConn{accepts: 1}}), false, SendResult{Fault: market.FaultBroken, Sent: true}},
		{"a byte, kept connection", overWire(&socketConn{Conn: failingConn{accepts: 1}, sentBytes: 99}), true, SendResult{Fault: market.FaultBroken, Sent: true, staleConn: true}},
		{"part of a record", overTLS(&socketConn{Conn: failingConn{accepts: 1}}), false, SendResult{Fault: market.FaultBroken, Sent: true}},
		{"no part of a record", overTLS(&socketConn{Conn: failingConn{}}), false, SendResult{Fault: market.FaultBroken}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var response fasthttp.Response
			row.line.used = row.kept
			got, keep := newHosts(t, nil).newHostConns(origin{}, new(atomic.Int64), 16).sendAndRead(row.line, newRequest(time.Now().Add(longTimeout)), &response)
			if got != row.want || keep {
				t.Errorf("got %+v, keep %v, want %+v", got, keep, row.want)
			}
		})
	}
}

// The exchange sets one deadline, for reading and writing.
func TestExchangeSetsOneDeadline(t *testing.T) {
	var got []time.Time
	w := &socketConn{Conn: failingConn{deadlines: &got}}
	var response fasthttp.Response
	deadline := time.Now().Add(longTimeout)
	newHosts(t, nil).newHostConns(origin{}, new(atomic.Int64), 16).sendAndRead(&outboundConn{Conn: w, socket: w}, newRequest(deadline), &response)
	if len(got) != 1 || !got[0].Equal(deadline) {
		t.Errorf("deadlines %v, want only %v", got, deadline)
	}
}

// The wait for an answer's first byte ends at the deadline, and a request without time
// left is not sent.
func TestSilentEndpointEndsAtDeadline(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""))
	hosts := newHosts(t, nil)
	target := findTarget(t, hosts, "http://"+e.Address+"/")
	conn := must.Value(hosts.dialer.dial(origin{name: "127.0.0.1", port: strings.TrimPrefix(e.Address, "127.0.0.1:")}, longTimeout))(t)
	defer conn.Close()
	for _, row := range []struct {
		deadline time.Duration
		want     SendResult
	}{
		{-time.Second, SendResult{Fault: market.FaultTimeout}},
		{3 * time.Second, SendResult{Fault: market.FaultTimeout, Sent: true}},
	} {
		var response fasthttp.Response
		got, keep := target.host.sendAndRead(conn.(*outboundConn), newRequest(time.Now().Add(row.deadline)), &response)
		if got != row.want || keep {
			t.Errorf("%v: got %+v, keep %v, want %+v", row.deadline, got, keep, row.want)
		}
	}
}

// An error of the pool is not a dial error, and a dial error keeps its cause.
func TestDialFaults(t *testing.T) {
	failed := &dialError{market.FaultTLS, errors.New("bad certificate")}
	if got := faultOfAcquireConn(failed); got != market.FaultTLS {
		t.Errorf("dialing: %v", got)
	}
	for _, err := range []error{fasthttp.ErrNoFreeConns, fasthttp.ErrTimeout} {
		if got := faultOfAcquireConn(err); got != market.FaultConnectionLimit {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !errors.Is(failed, failed.cause) || failed.Error() != "tls: bad certificate" {
		t.Errorf("%v", failed)
	}
}
