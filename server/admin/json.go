package admin

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// encodeJSON returns a value as JSON without a final line feed. It panics if the value has no
// JSON form, which no answer of this package has.
func encodeJSON(document any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic("BUG: cannot encode an answer as JSON: " + err.Error())
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
}

// sendJSON answers with a value as JSON. It leaves the status unchanged, which is 200 by
// default.
func sendJSON(ctx *fasthttp.RequestCtx, document any) {
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(encodeJSON(document), '\n'))
}

// answerCreatedSecret makes the answer a 201 with a new secret, and returns the document. No later
// answer shows the secret again, and caches must not store it.
func answerCreatedSecret(ctx *fasthttp.RequestCtx, document any) (answer any, err error) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return document, nil
}

// convertAll converts each element of a list. The result is never nil, so an empty list becomes
// [] in JSON.
func convertAll[T, J any](list []T, convert func(*T) J) []J {
	converted := make([]J, len(list))
	for i := range list {
		converted[i] = convert(&list[i])
	}
	return converted
}

// nullIfEmpty returns nil for an empty text, so that it becomes null in JSON.
func nullIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// formatTimeWithNanos formats a time in Unix nanoseconds as RFC 3339 with all its digits.
func formatTimeWithNanos(unixNanos int64) string {
	return time.Unix(0, unixNanos).UTC().Format(time.RFC3339Nano)
}

// formatTimeOrNull formats a time in Unix nanoseconds as RFC 3339 in whole seconds. It returns
// nil for 0, which becomes null in JSON.
func formatTimeOrNull(unixNanos int64) *string {
	if unixNanos == 0 {
		return nil
	}
	return nullIfEmpty(formatTimeToSeconds(unixNanos))
}
