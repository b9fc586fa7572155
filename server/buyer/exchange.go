package buyer

import (
	"bufio"
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// trip is what is certain after one request over one connection.
type trip struct {
	sent   bool         // at least a byte was given to the network
	stale  bool         // a kept connection was closed, or spoiled, before a byte of an answer
	status int          // of an answer whose head was read whole, else 0
	fault  market.Fault // none: the body was read whole, too
}

// exchange sends one request and reads its answer into response. A connection
// that saw anything but one clean answer is closed, never kept: what is left on
// it would be taken for the answer to the next lead.
func (h *host) exchange(request []byte, response *fasthttp.Response, deadline time.Time, ping bool) trip {
	left := time.Until(deadline)
	if left <= 0 {
		return trip{fault: market.FaultTimeout}
	}
	held, err := inStretches(h.pool.AcquireConn, left, h.wait)
	if err != nil {
		return trip{fault: dialFault(err)}
	}
	conn, ok := held.Conn().(*line)
	if !ok {
		panic("BUG: a connection in the pool that dial did not make")
	}
	done, keep := h.converse(conn, request, response, deadline, ping)
	if keep && !h.closed.Load() {
		h.pool.ReleaseConn(held)
	} else {
		h.pool.CloseConn(held)
	}
	return done
}

// converse is the request and the answer, under one deadline that nothing of
// them extends: an answer that trickles in runs into it like one that never comes.
func (h *host) converse(conn *line, request []byte, response *fasthttp.Response, deadline time.Time, ping bool) (done trip, keep bool) {
	kept := conn.begin()
	if err := conn.until(deadline, ping); err != nil {
		return trip{fault: market.FaultBroken, stale: kept}, false
	}
	err := conn.ask(request, kept)
	done.sent = conn.sent()
	if errors.Is(err, errUnasked) {
		return trip{fault: market.FaultBroken, stale: true}, false
	}
	if err != nil {
		done.fault = tripFault(err)
		done.stale = kept && done.fault != market.FaultTimeout
		return done, false
	}

	reader := h.pool.AcquireReader(conn)
	defer h.pool.ReleaseReader(reader)
	done.status, err = h.read(reader, response)
	if err != nil {
		done.fault = tripFault(err)
		done.stale = kept && !conn.answered() && done.fault != market.FaultTimeout
		return done, false
	}
	clean := reader.Buffered() == 0 && done.status >= 200
	return done, clean && !response.ConnectionClose()
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
	if err := response.ReadBody(reader, h.maxResponse); err != nil {
		return status, err
	}
	if response.Header.ContentLength() == chunked {
		err = response.Header.ReadTrailer(reader)
	}
	return status, err
}

// chunked is how fasthttp notes a body in chunks in place of its length.
const chunked = -1
