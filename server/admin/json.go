package admin

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// encodeJSON returns a value as JSON without a line feed. Each type here encodes.
func encodeJSON(document any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic("BUG: an answer does not encode: " + err.Error())
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
}

// sendJSON answers with a value as JSON.
func sendJSON(ctx *fasthttp.RequestCtx, document any) {
	ctx.SetContentType(httperror.TypeJSON)
	ctx.SetBody(append(encodeJSON(document), '\n'))
}

// sendUncachedJSON answers with a value as JSON that caches must not store.
func sendUncachedJSON(ctx *fasthttp.RequestCtx, document any) {
	ctx.Response.Header.Set("Cache-Control", "no-store")
	sendJSON(ctx, document)
}

// sendNewSecret answers 201 with a new secret, which no later answer shows again.
func sendNewSecret(ctx *fasthttp.RequestCtx, document any) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	sendUncachedJSON(ctx, document)
}

// convertAll converts the elements of a list. The result is never nil, so that its JSON is [].
func convertAll[T, J any](list []T, convert func(*T) J) []J {
	converted := make([]J, len(list))
	for i := range list {
		converted[i] = convert(&list[i])
	}
	return converted
}

// nullIfEmpty returns nil, whose JSON is null, for an empty text.
func nullIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// formatExactTime formats Unix nanoseconds with full precision.
func formatExactTime(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339Nano) }

// formatTimeOrNull formats Unix nanoseconds in whole seconds. It returns nil for zero.
func formatTimeOrNull(at int64) *string {
	if at == 0 {
		return nil
	}
	return nullIfEmpty(formatTime(at))
}
