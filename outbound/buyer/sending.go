package buyer

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// sending is one request to a buyer, whatever it asks for.
type sending struct {
	account   *account
	key       string // Idempotency-Key
	requestID market.RequestID
	hops      int
	body      []byte
	deadline  time.Time
	test      bool
	ping      bool // asks for a bid: what comes after the deadline is not heard

	repeatable bool // see dial.Request

	traceparent string // of a request that is traced

	credential string // that the last send presented
}

// send sends the request once. A kept connection that was closed does not count:
// see dial.Target.Send.
func (s *sending) send(response *fasthttp.Response) dial.Result {
	credential, fault := s.account.auth.present(s.deadline)
	if fault != market.FaultNone {
		return dial.Result{Fault: fault}
	}
	request, _ := letters.Get().(*letter)
	defer request.giveBack()
	s.credential = credential
	request.text = s.compose(request.text[:0], credential)
	return s.account.Send(&dial.Request{Raw: request.text, Deadline: s.deadline, Repeatable: s.repeatable, Ping: s.ping, LooseDeadline: s.ping}, response)
}

// renewed reports whether the answer was a 401 and there is another credential now,
// so that a second send is of use.
func (s *sending) renewed(done dial.Result) bool {
	return done.Status == fasthttp.StatusUnauthorized && s.account.auth.renew(s.credential, s.deadline)
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
