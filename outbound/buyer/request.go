package buyer

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// buyerRequest is one ping, post or token request, before it is encoded.
type buyerRequest struct {
	endpoint  *buyerEndpoint
	key       string // Idempotency-Key
	requestID market.RequestID
	hops      int
	body      []byte
	deadline  time.Time
	test      bool
	ping      bool // the caller ignores answers after the deadline

	repeatable bool // see dial.Request

	traceparent string // set if the request is traced

	credential string // the credential of the last send
}

// sendOnce sends the request once and reads the answer into response. It counts as one attempt even
// if a reused connection was closed and Send used a new one: see dial.Target.Send.
func (s *buyerRequest) sendOnce(response *fasthttp.Response) dial.SendResult {
	credential, fault := s.endpoint.auth.credential(s.deadline)
	if fault != market.FaultNone {
		return dial.SendResult{Fault: fault}
	}
	buffer, _ := requestBuffers.Get().(*requestBuffer)
	defer buffer.releaseToPool()
	s.credential = credential
	buffer.text = s.appendHTTPRequest(buffer.text[:0], credential)
	return s.endpoint.Send(&dial.Request{Raw: buffer.text, Deadline: s.deadline, Repeatable: s.repeatable, Ping: s.ping, LooseDeadline: s.ping}, response)
}

// renewCredentialAfter401 reports whether the request should be sent again: the buyer rejected the
// credential with a 401, and the credentialSource now has another one.
func (s *buyerRequest) renewCredentialAfter401(result dial.SendResult) (shouldRepeat bool) {
	return result.Status == fasthttp.StatusUnauthorized && s.endpoint.auth.renewAfter401(s.credential, s.deadline)
}

// appendHTTPRequest appends the whole HTTP request to dst: the parts that the buyer endpoint
// encoded once, and then the parts that differ in each request.
//
// Rejected: fasthttp's Request. It stores each header with a search among the earlier ones,
// only to read all of them out again.
func (s *buyerRequest) appendHTTPRequest(dst []byte, credential string) []byte {
	a := s.endpoint
	keyHeader, query := "Idempotency-Key", false
	if a.protocol != nil {
		keyHeader, query = a.protocol.keyHeader, a.protocol.method == fasthttp.MethodGet
	}
	dst = append(dst, a.requestLine...)
	if query {
		dst = appendFormAsQuery(dst, a.Path, s.body)
	}
	dst = append(dst, a.fixedHeaders...)
	if !query {
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(s.body)), 10), "\r\n"...)
	}
	if s.key != "" && keyHeader != "" {
		dst = dial.AppendHeader(dst, keyHeader, "", s.key)
	}
	if s.hops > 0 && a.protocol == nil {
		dst = append(strconv.AppendInt(append(dst, "X-Pingpost-Hops: "...), int64(s.hops), 10), "\r\n"...)
	}
	if s.test {
		dst = append(dst, "X-Pingpost-Test: 1\r\n"...)
	}
	if s.traceparent != "" {
		dst = dial.AppendHeader(dst, "traceparent", "", s.traceparent)
	}
	if !s.requestID.IsZero() {
		dst = append(s.requestID.AppendAsText(append(dst, "X-Request-Id: "...)), "\r\n"...)
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
