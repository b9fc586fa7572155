package dial

import (
	"bufio"
	"errors"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// SendResult says how far a request got: whether it was sent, which status came back, and the fault
// if the answer is missing or incomplete.
type SendResult struct {
	Sent   bool                        // the network accepted at least one byte
	Status int                         // the answer's status if its complete head arrived, else 0
	Fault  market.OutboundRequestFault // FaultNone if the complete body arrived too

	staleConn bool // a reused connection was closed, or held unexpected data, before a byte of an answer
}

// sendOverPooledConn sends one request over a connection of the pool and reads the answer into response.
// It returns the connection to the pool only after exactly one complete answer. Otherwise a
// later request could take leftover bytes for its own answer.
func (h *hostConns) sendOverPooledConn(r *Request, response *fasthttp.Response) SendResult {
	left := time.Until(r.Deadline)
	if left <= 0 {
		return SendResult{Fault: market.FaultTimeout}
	}
	pool := h.pingOrOtherConnPool(r)
	pooled, err := acquireConnWithin(pool.AcquireConn, left, h.maxConnWait(r, left))
	for err == nil && !h.isConnTrustedAndFresh(mustBeOutboundConn(pooled.Conn()), r) {
		pool.CloseConn(pooled)
		pooled, err = acquireConnWithin(pool.AcquireConn, time.Until(r.Deadline), h.maxConnWait(r, left))
	}
	if err != nil {
		return SendResult{Fault: faultOfAcquireConn(err)}
	}
	conn := mustBeOutboundConn(pooled.Conn())
	result, keep := h.sendAndRead(conn, r, response)
	if keep && h.isTrustedAndMayConnStayOpen() {
		conn.idleSince = h.hosts.clock()
		pool.ReleaseConn(pooled)
	} else {
		pool.CloseConn(pooled)
	}
	return result
}

func mustBeOutboundConn(pooled net.Conn) *outboundConn {
	own, ok := pooled.(*outboundConn)
	if !ok {
		panic("BUG: the pool returned a connection that dial did not open")
	}
	return own
}

// sendAndRead sends the request on conn and reads the answer, both before one fixed deadline. A
// slow answer does not extend it. mayReuse reports whether the connection can be used again.
func (h *hostConns) sendAndRead(conn *outboundConn, r *Request, response *fasthttp.Response) (result SendResult, mayReuse bool) {
	kept := conn.resetForRequest()
	if err := conn.applyDeadline(r.Deadline, r.LooseDeadline); err != nil {
		return SendResult{Fault: market.FaultBroken, staleConn: kept}, false
	}
	err := conn.checkIfReusedAndSendRequest(r.Raw, kept)
	result.Sent = conn.hasSentBytes()
	if errors.Is(err, errUnexpectedDataOrEnd) {
		if conn.sawExtraAnswer {
			h.suspendConnReuse()
		}
		return SendResult{Fault: market.FaultBroken, staleConn: true}, false
	}
	if err != nil {
		result.Fault = faultOfSendOrRead(err)
		result.staleConn = kept && result.Fault != market.FaultTimeout
		return result, false
	}

	pool := h.pingOrOtherConnPool(r)
	reader := pool.AcquireReader(conn)
	defer pool.ReleaseReader(reader)
	result.Status, err = h.readHeadThenBody(reader, response)
	if err != nil {
		result.Fault = faultOfSendOrRead(err)
		result.staleConn = kept && !conn.hasAnswerBytes() && result.Fault != market.FaultTimeout
		return result, false
	}
	if more, _ := reader.Peek(reader.Buffered()); len(more) > 0 {
		if !isNeitherBlankNor408(more) {
			return result, false
		}
		h.suspendConnReuse()
		if kept && !r.Ping {
			// One of the two answers belongs to an earlier request, and it is unknown
			// which.
			result.Status, result.Fault = 0, market.FaultUnreadable
		}
		return result, false
	}
	return result, result.Status >= 200 && !response.ConnectionClose()
}

// maxInterim limits the 1xx answers before the final one.
const maxInterim = 8

// readHeadThenBody reads an HTTP answer into response and returns its status. If the head arrives
// but the body does not, it returns the status with an error. A rejection needs no body: its status
// alone counts. If the head fails, the status is 0.
//
// fasthttp's own functions leave status 200 after a failed head, so they cannot tell a failed
// head from a failed body.
func (h *hostConns) readHeadThenBody(reader *bufio.Reader, response *fasthttp.Response) (statusOrZero int, err error) {
	response.Reset()
	var head []byte
	for range maxInterim {
		head = waitAndPeekCompleteHead(reader)
		if err := response.Header.Read(reader); err != nil {
			return 0, err
		}
		if !hasValidStatusLine(head) {
			return 0, errStatus
		}
		statusOrZero = response.StatusCode()
		if statusOrZero >= 200 || statusOrZero == fasthttp.StatusSwitchingProtocols {
			break
		}
	}
	switch {
	case statusOrZero < 200 && statusOrZero != fasthttp.StatusSwitchingProtocols:
		return 0, errInterim
	case statusOrZero < 200, statusOrZero == fasthttp.StatusNoContent, statusOrZero == fasthttp.StatusNotModified:
		return statusOrZero, nil
	case response.Header.ContentLength() == chunked && hasContentLength(head):
		return statusOrZero, errTwoLengths
	}
	if err := response.ReadBody(reader, h.hosts.options.MaxResponse); err != nil {
		return statusOrZero, err
	}
	if response.Header.ContentLength() == chunked {
		err = response.Header.ReadTrailer(reader)
	}
	return statusOrZero, err
}

// chunked is the content length that fasthttp returns for a body in chunks.
const chunked = -1
