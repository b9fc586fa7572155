package payload

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// EncodeJSON returns a value as JSON without a final line feed. It panics if the value cannot be
// encoded, which would be a bug.
func EncodeJSON(document any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic("BUG: cannot encode an answer as JSON: " + err.Error())
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
}

// SendJSON answers with a value as JSON. It leaves the status unchanged, which is 200 by
// default.
func SendJSON(ctx *fasthttp.RequestCtx, document any) {
	SendEncodedJSON(ctx, append(EncodeJSON(document), '\n'))
}

// SendEncodedJSON answers with a JSON text.
func SendEncodedJSON(ctx *fasthttp.RequestCtx, text []byte) {
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(text)
}

// minCompressed is the length in bytes from which compression is worth its time.
const minCompressed = 1 << 10

// CompressLongJSON compresses the answer if it is a long JSON text and the client accepts gzip. Call it
// last: the audit log reads the text of answers. It does not compress an answer with
// Cache-Control: no-store: from the length of a compressed answer, an attacker could guess a secret
// in it.
func CompressLongJSON(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	if ctx.Response.IsBodyStream() || len(ctx.Response.Body()) < minCompressed ||
		!bytes.HasPrefix(header.ContentType(), []byte(httperror.TypeJSON)) ||
		len(header.ContentEncoding()) > 0 || string(header.Peek("Cache-Control")) == "no-store" {
		return
	}
	header.Set("Vary", "Accept-Encoding")
	if ctx.Request.Header.HasAcceptEncoding("gzip") {
		header.SetContentEncoding("gzip")
		ctx.Response.SetBodyRaw(fasthttp.AppendGzipBytesLevel(nil, ctx.Response.Body(), fasthttp.CompressBestSpeed))
	}
}

// SetCreatedAndNoStore makes the answer a 201 with a new secret, and returns the document. No later
// answer shows the secret again, and caches must not store it.
func SetCreatedAndNoStore(ctx *fasthttp.RequestCtx, document any) (answer any, err error) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return document, nil
}

// ConvertAll converts each element of a list. The result is never nil, so an empty list becomes
// [] in JSON.
func ConvertAll[T, J any](list []T, convert func(*T) J) []J {
	converted := make([]J, len(list))
	for i := range list {
		converted[i] = convert(&list[i])
	}
	return converted
}

// NullIfEmpty returns nil for an empty text, so that it becomes null in JSON.
func NullIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// FormatTimeWithNanos formats a time in Unix nanoseconds as RFC 3339 with all its digits.
func FormatTimeWithNanos(unixNanos int64) string {
	return time.Unix(0, unixNanos).UTC().Format(time.RFC3339Nano)
}

// FormatTimeOrNull formats a time in Unix nanoseconds as RFC 3339 in whole seconds. It returns
// nil for 0, which becomes null in JSON.
func FormatTimeOrNull(unixNanos int64) *string {
	if unixNanos == 0 {
		return nil
	}
	return NullIfEmpty(FormatTimeToSeconds(unixNanos))
}

// FormatTimeToSeconds formats a time in Unix nanoseconds as RFC 3339 in whole seconds, in UTC.
func FormatTimeToSeconds(unixNanos int64) string {
	return time.Unix(0, unixNanos).UTC().Format(time.RFC3339)
}

// NonJSONAnswer is an answer that is not a JSON document, such as a file. It sets the headers and the body
// of the answer.
type NonJSONAnswer interface {
	SendAnswer(ctx *fasthttp.RequestCtx)
}

// EncodedJSON is an encoded JSON document.
type EncodedJSON []byte
