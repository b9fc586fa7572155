package refbuyer

import (
	"encoding/json"
	"errors"

	"github.com/valyala/fasthttp"
)

// fieldError is one item of field_errors.
type fieldError struct {
	Field    string `json:"field"`
	Code     string `json:"code"`
	Expected string `json:"expected"`
}

// refusal is the API's error body.
type refusal struct {
	Error       string       `json:"error"`
	Message     string       `json:"message"`
	RequestID   string       `json:"request_id"`
	FieldErrors []fieldError `json:"field_errors,omitempty"`
}

// refuse answers with the error body, and counts the request as invalid.
func (b *Buyer) refuse(r *fasthttp.RequestCtx, status int, code, message string, fields ...fieldError) {
	b.ledger.count(func(s *Stats) *int64 { return &s.Invalid })
	answerError(r, status, code, message, fields...)
}

func answerError(r *fasthttp.RequestCtx, status int, code, message string, fields ...fieldError) {
	id := requestID(r)
	r.Response.Header.Set("X-Request-Id", id)
	answerJSON(r, status, refusal{code, message, id, fields})
}

// requestID returns the caller's X-Request-Id if it is valid, or a new one.
func requestID(r *fasthttp.RequestCtx) string {
	if id := r.Request.Header.Peek("X-Request-Id"); len(id) > 0 && len(id) <= maxID && isVisibleASCII(id) {
		return string(id)
	}
	return chance(r.ID()).name("req_", r.RemoteAddr().String())
}

// refuseUnparsable answers a request that fasthttp could not parse.
func (b *Buyer) refuseUnparsable(r *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		b.refuse(r, fasthttp.StatusRequestEntityTooLarge, "payload_too_large", "the body exceeds 64 KiB")
		return
	}
	b.refuse(r, fasthttp.StatusBadRequest, "malformed_request", "the request is not valid HTTP")
}

func answerJSON(r *fasthttp.RequestCtx, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	r.SetStatusCode(status)
	r.SetContentType("application/json")
	r.Response.SetBodyRaw(text)
}

// isVisibleASCII reports whether the text is visible ASCII only.
func isVisibleASCII(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
