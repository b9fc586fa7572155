package httperror

import (
	"bytes"
	"math"
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// SetRateLimitHeaders writes the headers X-RateLimit-Limit, -Remaining and -Reset. resetUnixSeconds
// is the time in seconds at which the full limit is available again.
func SetRateLimitHeaders(header *fasthttp.ResponseHeader, limit int, remaining, resetUnixSeconds float64) {
	var digits [20]byte
	header.SetBytesV("X-RateLimit-Limit", strconv.AppendInt(digits[:0], int64(limit), 10))
	header.SetBytesV("X-RateLimit-Remaining", strconv.AppendInt(digits[:0], int64(max(0, remaining)), 10))
	header.SetBytesV("X-RateLimit-Reset", strconv.AppendInt(digits[:0], int64(math.Ceil(resetUnixSeconds)), 10))
}

// ErrorCodeInBody returns the error code in the body of an answer, or "" if the body is not an
// error of this API.
func ErrorCodeInBody(body []byte) string {
	rest, isError := bytes.CutPrefix(body, []byte(`{"error":"`))
	code, _, whole := bytes.Cut(rest, []byte(`"`))
	if !isError || !whole {
		return ""
	}
	return string(code)
}

const (
	HeaderChallenge = "WWW-Authenticate"
	ChallengeBasic  = `Basic realm="pingpost"`
)

const (
	TypeJSON        = "application/json"
	HeaderRequestID = "X-Request-Id"
	HeaderReplayed  = "Idempotent-Replayed"
)

// Write answers the request id with the error failure in the form of the API. fields are the errors
// of single fields of the payload.
func Write(ctx *fasthttp.RequestCtx, id market.RequestID, failure Error, fields ...market.FieldError) {
	var text [64]byte
	ctx.Response.ResetBody()
	ctx.SetStatusCode(failure.Status)
	ctx.SetContentType(TypeJSON)
	ctx.Response.Header.SetBytesV(HeaderRequestID, id.AppendAsText(text[:0]))
	if failure.retryAfter > 0 {
		ctx.Response.Header.SetBytesV("Retry-After", strconv.AppendInt(text[:0], int64(failure.retryAfter), 10))
	}
	ctx.SetBody(AppendJSON(nil, id, failure, fields...))
}

// AppendJSON appends the JSON body for the error failure of the request id.
func AppendJSON(body []byte, id market.RequestID, failure Error, fields ...market.FieldError) []byte {
	body = escape.AppendJSONString(append(body, `{"error":`...), []byte(failure.Code))
	body = escape.AppendJSONString(append(body, `,"message":`...), []byte(failure.Message))
	body = id.AppendAsText(append(body, `,"request_id":"`...))
	body = append(body, '"')
	if len(fields) > 0 {
		body = AppendFieldErrorsAndBracket(append(body, `,"field_errors":[`...), fields)
	}
	return append(body, '}')
}

func AppendFieldErrorsAndBracket(body []byte, fields []market.FieldError) []byte {
	for i := range fields {
		if i > 0 {
			body = append(body, ',')
		}
		body = escape.AppendJSONString(append(body, `{"field":`...), []byte(fields[i].Field))
		body = escape.AppendJSONString(append(body, `,"code":`...), []byte(fields[i].Code))
		body = escape.AppendJSONString(append(body, `,"expected":`...), []byte(fields[i].Expected))
		body = append(body, '}')
	}
	return append(body, ']')
}

// RawResponse returns a complete HTTP answer with an error, for a connection over which no
// request was read. statusCodeAndText is the status line's end, such as "503 Service Unavailable".
func RawResponse(statusCodeAndText string, id market.RequestID, failure Error) []byte {
	body := AppendJSON(nil, id, failure)
	text := []byte("HTTP/1.1 " + statusCodeAndText + "\r\nContent-Type: " + TypeJSON + "\r\n")
	if failure.retryAfter > 0 {
		text = append(strconv.AppendInt(append(text, "Retry-After: "...), int64(failure.retryAfter), 10), "\r\n"...)
	}
	text = append(text, "Connection: close\r\n"...)
	text = id.AppendAsText(append(text, HeaderRequestID+": "...))
	text = strconv.AppendInt(append(text, "\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(text, "\r\n\r\n"...), body...)
}
