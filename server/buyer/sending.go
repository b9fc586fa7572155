package buyer

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
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

	// repeatable says that a second one can do no harm: it carries a key, or
	// asks for nothing that is done but once.
	repeatable bool
}

// send sends the request until there is an outcome: once, and once more for each
// of two reasons at most. Doubt tells that an earlier sending than the one that
// trip is of may have arrived.
//
// A connection kept from before was found closed: the buyer, most likely, had
// ended it for being idle while our request was on its way. The other idle ones
// have probably met the same end, so they are dropped and the second sending
// goes over a new connection. It is made only where the request is repeatable,
// unless not a byte had left: the buyer may have read it and died.
//
// The buyer answered 401: the credential is asked for anew, and where it is
// another one now, that is tried. A 401 took nothing, so no key is needed.
func (s *sending) send(request *fasthttp.Request, response *fasthttp.Response) (done trip, doubt bool) {
	a := s.account
	redialed, renewed := false, false
	for {
		credential, fault := a.auth.present(s.deadline)
		if fault != market.FaultNone {
			return trip{fault: fault}, doubt
		}
		s.compose(request, credential)
		done = a.host.exchange(request, response, s.deadline)
		switch {
		case done.stale && !redialed && (!done.sent || s.repeatable):
			redialed, doubt = true, doubt || done.sent
			a.host.pool.CloseIdleConnections()
		case done.status == fasthttp.StatusUnauthorized && !renewed && a.auth.renew(credential, s.deadline):
			renewed = true
		default:
			return done, doubt
		}
	}
}

// compose writes the whole request anew. Host and path go out as configured:
// fasthttp rewrites neither as long as nobody asks it for the parsed URI.
func (s *sending) compose(r *fasthttp.Request, credential string) {
	r.Reset()
	r.Header.DisableNormalizing()
	r.Header.SetHost(s.account.authority)
	r.Header.SetRequestURI(s.account.path)
	r.Header.SetUserAgent("pingpost")
	if d := s.account.dialect; d != nil {
		d.write(r, s)
	} else {
		s.writeContract(r)
	}
	var text [512]byte // a longer one costs an allocation
	if !s.requestID.IsZero() {
		r.Header.SetBytesV("X-Request-Id", s.requestID.AppendTo(text[:0]))
	}
	if credential != "" {
		r.Header.SetBytesV(s.account.header, append(append(text[:0], s.account.scheme...), credential...))
	}
}

// writeContract writes what the contract has and dialects do not.
func (s *sending) writeContract(r *fasthttp.Request) {
	r.Header.SetMethod(fasthttp.MethodPost)
	r.Header.SetContentType("application/json")
	r.Header.Set("Accept", "application/json")
	if s.key != "" {
		r.Header.Set("Idempotency-Key", s.key)
	}
	if s.hops > 0 {
		var text [20]byte
		r.Header.SetBytesV("X-Pingpost-Hops", strconv.AppendInt(text[:0], int64(s.hops), 10))
	}
	r.SetBodyRaw(s.body)
}
