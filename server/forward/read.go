package forward

import (
	"errors"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

var (
	errLeaderChanged = errors.New("the node no longer leads, and did not answer")
	errAnswerTime    = errors.New("the leader did not answer in time")
)

// readAnswerHead waits for the answer and reads its head. soon: the request was not sent completely, so
// that only an answer that is on its way counts.
func (r *clientRequest) readAnswerHead(conn *nodeConn, answer *fasthttp.Response, leader Leader, soon bool) error {
	answer.Header.DisableNormalizing() // header names keep their spelling
	if err := r.waitForFirstByte(conn, leader, soon); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(headTime)); err != nil {
		return err
	}
	for {
		if err := answer.Header.Read(conn.reader); err != nil {
			return err
		}
		if status := answer.StatusCode(); status >= fasthttp.StatusOK || status == fasthttp.StatusSwitchingProtocols {
			return nil
		}
	}
}

func (r *clientRequest) waitForFirstByte(conn *nodeConn, leader Leader, soon bool) error {
	var lost time.Time // when another node led for the first time
	for began := time.Now(); ; {
		if err := conn.SetReadDeadline(time.Now().Add(leaderPoll)); err != nil {
			return err
		}
		_, err := conn.reader.Peek(1)
		if err == nil {
			return nil
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			return err
		}
		now := time.Now()
		switch leads := r.f.opt.Leader().ID == leader.ID; {
		case soon || now.Sub(began) >= answerTime:
			return errAnswerTime
		case leads:
			lost = time.Time{}
		case lost.IsZero():
			lost = now
		case now.Sub(lost) >= leaderGrace:
			return errLeaderChanged
		}
	}
}
