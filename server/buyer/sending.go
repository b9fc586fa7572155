package buyer

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/dial"
)

// sending is one request to a buyer, whatever it asks for, and however often it
// goes over the wire.
type sending struct {
	account   *account
	key       string // Idempotency-Key
	requestID market.RequestID
	hops      int
	body      []byte
	deadline  time.Time
	test      bool
	ping      bool // asks for a bid: what comes after the deadline is not heard

	// repeatable says that a second one can do no harm: it carries a key, or
	// asks for nothing that is done but once.
	repeatable bool

	traceparent string // of a request that is traced
}

// send sends the request until there is an outcome: once, or again because a kept
// connection was found closed (see dial.Target), and all of that once more where
// the buyer answered 401. Then the credential is asked for anew, and where it is
// another one now, that is tried. A 401 took nothing, so no key is needed.
func (s *sending) send(response *fasthttp.Response) dial.Trip {
	a := s.account
	request, _ := letters.Get().(*letter)
	defer request.giveBack()
	doubt, renewed := false, false
	for {
		credential, fault := a.auth.present(s.deadline)
		if fault != market.FaultNone {
			return dial.Trip{Fault: fault, Doubt: doubt}
		}
		request.text = s.compose(request.text[:0], credential)
		done := a.Send(&dial.Request{Text: request.text, Deadline: s.deadline, Repeatable: s.repeatable, Asks: s.ping, Late: s.ping}, response)
		done.Doubt = done.Doubt || doubt
		if done.Status != fasthttp.StatusUnauthorized || renewed || !a.auth.renew(credential, s.deadline) {
			return done
		}
		doubt, renewed = done.Doubt, true
	}
}

// compose appends the whole request, with all that changes from one to the next
// behind what the account has ready.
//
// Rejected: fasthttp's Request. It is filled member by member, each looked for
// among those before, only to be read out again.
func (s *sending) compose(dst []byte, credential string) []byte {
	a := s.account
	keyHeader, query := "Idempotency-Key", false
	if a.dialect != nil {
		keyHeader, query = a.dialect.keyHeader, a.dialect.method == fasthttp.MethodGet
	}
	dst = append(dst, a.address...)
	if query {
		dst = appendQuery(dst, a.Path, s.body)
	}
	dst = append(dst, a.head...)
	if !query {
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(s.body)), 10), "\r\n"...)
	}
	if s.key != "" && keyHeader != "" {
		dst = dial.AppendHeader(dst, keyHeader, "", s.key)
	}
	if s.hops > 0 && a.dialect == nil {
		dst = append(strconv.AppendInt(append(dst, "X-Pingpost-Hops: "...), int64(s.hops), 10), "\r\n"...)
	}
	if s.test {
		dst = append(dst, "X-Pingpost-Test: 1\r\n"...)
	}
	if s.traceparent != "" {
		dst = dial.AppendHeader(dst, "traceparent", "", s.traceparent)
	}
	if !s.requestID.IsZero() {
		dst = append(s.requestID.AppendTo(append(dst, "X-Request-Id: "...)), "\r\n"...)
	}
	if credential != "" {
		dst = dial.AppendHeader(dst, a.header, a.scheme, credential)
	}
	dst = append(dst, "\r\n"...)
	if query {
		return dst
	}
	return append(dst, s.body...)
}
