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

// refusal is the interface's error body.
type refusal struct {
	Error       string       `json:"error"`
	Message     string       `json:"message"`
	RequestID   string       `json:"request_id"`
	FieldErrors []fieldError `json:"field_errors,omitempty"`
}

// refuse answers with the error body, and counts what was the caller's fault.
func (b *Buyer) refuse(r *fasthttp.RequestCtx, status int, code, message string, fields ...fieldError) {
	b.ledger.invalid()
	fail(r, status, code, message, fields...)
}

func fail(r *fasthttp.RequestCtx, status int, code, message string, fields ...fieldError) {
	id := requestID(r)
	r.Response.Header.Set("X-Request-Id", id)
	answer(r, status, refusal{code, message, id, fields})
}

// requestID is the caller's own, where it gave a proper one.
func requestID(r *fasthttp.RequestCtx) string {
	if id := string(r.Request.Header.Peek("X-Request-Id")); id != "" && len(id) <= 64 && visible(id) {
		return id
	}
	return chance(r.ID()).name("req_", r.RemoteAddr().String())
}

func (b *Buyer) methodNotAllowed(r *fasthttp.RequestCtx, allow string) {
	r.Response.Header.Set("Allow", allow)
	b.refuse(r, fasthttp.StatusMethodNotAllowed, "method_not_allowed", "use "+allow)
}

// malformed answers what fasthttp could not read as a request.
func (b *Buyer) malformed(r *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		b.refuse(r, fasthttp.StatusRequestEntityTooLarge, "payload_too_large", "a body is 64 KiB at most")
		return
	}
	b.refuse(r, fasthttp.StatusBadRequest, "malformed_request", "this is no HTTP request")
}

func answer(r *fasthttp.RequestCtx, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	r.SetStatusCode(status)
	r.SetContentType("application/json")
	r.SetBody(text)
}

// visible tells whether the text is visible ASCII throughout.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// listLeads answers one JSON object a line.
func (b *Buyer) listLeads(r *fasthttp.RequestCtx) {
	r.SetContentType("application/x-ndjson")
	lines := json.NewEncoder(r)
	for _, lead := range b.Leads() {
		if err := lines.Encode(lead); err != nil {
			panic("BUG: a lead that is no JSON: " + err.Error())
		}
	}
}
