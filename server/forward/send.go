package forward

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/request"
)

const (
	writeTime    = 10 * time.Second // for one write to a connection
	answerTime   = 5 * time.Minute  // until the first byte of an answer
	headTime     = 10 * time.Second // from the first byte of an answer to the end of its head
	leaderPoll   = time.Second      // how often a request that waits for its answer looks for a new leader
	leaderGrace  = 2 * time.Second  // for the answer of a node that no longer leads
	streamPause  = 30 * time.Second // most time between two pieces of a body that a client sends
	streamBuffer = 32 << 10
)

// sendResult is the result of one attempt to let the leader answer.
type sendResult int

const (
	sendAnswered sendResult = iota // the client has an answer
	sendNotSent                    // the leader cannot have read the head
	sendMarked                     // the answer is marked: see httperror.MaySendAgain
	sendUnknown                    // the leader may have decided
)

// send lets the leader answer the request. It returns false if the request may be sent again, because another
// leader cannot decide differently.
func (r *clientRequest) send(leader Leader) (done bool) {
	if length := bodyLength(r.ctx); !r.body.isComplete(length) {
		r.rejectUnread(request.ErrorOfFailedRead(r.body.err))
		return true
	}
	to := nodeKey{leader.ID, leader.Address}
	conn := r.f.conns.takeIdle(to)
	if conn == nil {
		began := time.Now()
		var err error
		if conn, err = r.f.conns.dialNew(to, min(r.budget, dialTime)); err != nil {
			r.budget -= time.Since(began)
			r.f.opt.Logger.Debug("cannot connect to the leader", "node", to.id, "error", err)
			return false
		}
	}
	switch r.sendOver(conn, leader) {
	case sendAnswered:
		return true
	case sendUnknown:
		r.answerUnavailable(Unknown)
		return true
	}
	return false
}

// sendOver sends the request over the connection and passes the answer on. The connection is kept or
// closed afterwards.
func (r *clientRequest) sendOver(conn *nodeConn, leader Leader) sendResult {
	written, err := r.writeRequest(conn)
	if err != nil && !written {
		conn.close()
		return sendNotSent
	}
	var client clientBodyError
	if errors.As(err, &client) {
		conn.close()
		r.rejectUnread(request.ErrorOfFailedRead(client.error))
		return sendAnswered
	}
	answer := fasthttp.AcquireResponse()
	// After a failed write the leader may have answered already, for example that the body is too large.
	if r.readAnswerHead(conn, answer, leader, err != nil) != nil {
		fasthttp.ReleaseResponse(answer)
		conn.close()
		return sendUnknown
	}
	if mark := answer.Header.Peek(headerMaySendAgain); len(mark) > 0 {
		r.hasEvent = r.hasEvent || string(mark) == markEvent
		r.dropAnswer(conn, answer)
		return sendMarked
	}
	if r.refusesLoggedRequest(answer.StatusCode()) {
		r.dropAnswer(conn, answer)
		return sendUnknown
	}
	return r.relay(conn, answer)
}

// dropAnswer reads an answer that is not passed on, and keeps the connection.
func (r *clientRequest) dropAnswer(conn *nodeConn, answer *fasthttp.Response) {
	defer fasthttp.ReleaseResponse(answer)
	answer.SkipBody = r.ctx.IsHead()
	err := error(nil)
	if !answer.SkipBody {
		err = answer.ReadBody(conn.reader, maxBufferedAnswer)
	}
	if err != nil || answer.ConnectionClose() {
		conn.close()
		return
	}
	conn.keep()
}
