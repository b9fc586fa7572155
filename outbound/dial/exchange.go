package dial

import (
	"bufio"
	"errors"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// Trip is what is certain after a request.
type Trip struct {
	Sent   bool         // at least a byte was given to the network
	Status int          // of an answer whose head was read whole, else 0
	Fault  market.Fault // none: the body was read whole, too

	stale bool // a kept connection was closed, or spoiled, before a byte of an answer
}

// exchange sends one request and reads its answer into response. A connection
// that saw anything but one clean answer is closed, never kept: what is left on
// it would be taken for the answer to the next lead.
func (h *host) exchange(r *Request, response *fasthttp.Response) Trip {
	left := time.Until(r.Deadline)
	if left <= 0 {
		return Trip{Fault: market.FaultTimeout}
	}
	pool := h.poolOf(r)
	held, err := inStretches(pool.AcquireConn, left, h.patience(r, left))
	for err == nil && !h.mayCarry(lineOf(held.Conn()), r) {
		pool.CloseConn(held)
		held, err = inStretches(pool.AcquireConn, time.Until(r.Deadline), h.patience(r, left))
	}
	if err != nil {
		return Trip{Fault: dialFault(err)}
	}
	conn := lineOf(held.Conn())
	done, keep := h.converse(conn, r, response)
	if keep && h.keeps() {
		conn.unused = h.of.clock()
		pool.ReleaseConn(held)
	} else {
		pool.CloseConn(held)
	}
	return done
}

func lineOf(conn net.Conn) *line {
	l, ok := conn.(*line)
	if !ok {
		panic("BUG: a connection in the pool that dial did not make")
	}
	return l
}

// converse is the request and the answer, under one deadline that nothing of
// them extends: an answer that trickles in runs into it like one that never comes.
func (h *host) converse(conn *line, r *Request, response *fasthttp.Response) (done Trip, keep bool) {
	kept := conn.begin()
	if err := conn.until(r.Deadline, r.Late); err != nil {
		return Trip{Fault: market.FaultBroken, stale: kept}, false
	}
	err := conn.ask(r.Text, kept)
	done.Sent = conn.sent()
	if errors.Is(err, errUnasked) {
		if conn.words {
			h.caught()
		}
		return Trip{Fault: market.FaultBroken, stale: true}, false
	}
	if err != nil {
		done.Fault = tripFault(err)
		done.stale = kept && done.Fault != market.FaultTimeout
		return done, false
	}

	pool := h.poolOf(r)
	reader := pool.AcquireReader(conn)
	defer pool.ReleaseReader(reader)
	done.Status, err = h.read(reader, response)
	if err != nil {
		done.Fault = tripFault(err)
		done.stale = kept && !conn.answered() && done.Fault != market.FaultTimeout
		return done, false
	}
	if more, _ := reader.Peek(reader.Buffered()); len(more) > 0 {
		if !saysMore(more) {
			return done, false
		}
		h.caught()
		if kept && !r.Asks {
			// One of the two answers is for an earlier request, and nothing tells which.
			done.Status, done.Fault = 0, market.FaultUnreadable
		}
		return done, false
	}
	return done, done.Status >= 200 && !response.ConnectionClose()
}

// maxInterim bounds the 1xx answers that may come before the one that counts.
const maxInterim = 8

// read gives the status as soon as the head is whole, with an error where the
// body is not: a refusal stands by its status alone. fasthttp's own reading
// cannot tell the two apart, since a head that failed counts as 200 there.
func (h *host) read(reader *bufio.Reader, response *fasthttp.Response) (status int, err error) {
	response.Reset()
	var head []byte
	for range maxInterim {
		head = wholeHead(reader)
		if err := response.Header.Read(reader); err != nil {
			return 0, err
		}
		if !isStatus(head) {
			return 0, errStatus
		}
		status = response.StatusCode()
		if status >= 200 || status == fasthttp.StatusSwitchingProtocols {
			break
		}
	}
	switch {
	case status < 200 && status != fasthttp.StatusSwitchingProtocols:
		return 0, errInterim
	case status < 200, status == fasthttp.StatusNoContent, status == fasthttp.StatusNotModified:
		return status, nil
	case response.Header.ContentLength() == chunked && givesLength(head):
		return status, errLengths
	}
	if err := response.ReadBody(reader, h.of.options.MaxResponse); err != nil {
		return status, err
	}
	if response.Header.ContentLength() == chunked {
		err = response.Header.ReadTrailer(reader)
	}
	return status, err
}

// chunked is how fasthttp notes a body in chunks in place of its length.
const chunked = -1
