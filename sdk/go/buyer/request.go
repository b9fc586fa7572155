package buyer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"

	"pingpost/sdk/go/model"
)

// MaxBody is the largest accepted body in bytes.
const MaxBody = 64 << 10

// Request holds the parts of a request that an endpoint needs. Servers other than net/http
// create one and pass it to Answer.
type Request struct {
	Method, Path  string // the path relative to the endpoint
	Authorization string
	APIKey        string // x-api-key
	ContentType   string
	Key           string // Idempotency-Key
	RequestID     string // X-Request-Id
	Body          []byte // of a larger body, MaxBody+1 bytes are enough
}

// Response is the answer to send. Its body is always JSON.
type Response struct {
	Status    int
	RequestID string // X-Request-Id
	Allow     string // Allow header, or ""
	Challenge string // WWW-Authenticate header, or ""
	Body      []byte
}

// Answer handles a request.
func (b *Buyer) Answer(ctx context.Context, r Request) Response {
	if !isVisibleASCII(r.RequestID, 64) {
		r.RequestID = randomToken("req_")
	}
	if r.Path != "/v1/ping" && r.Path != "/v1/post" {
		return refuse(&r, http.StatusNotFound, model.ErrorCodeNotFound, "Pings go to /v1/ping and posts to /v1/post.")
	}
	if r.Method != http.MethodPost {
		no := refuse(&r, http.StatusMethodNotAllowed, model.ErrorCodeMethodNotAllowed, "Only POST is understood here.")
		no.Allow = http.MethodPost
		return no
	}
	if !b.isAuthorized(&r) {
		no := refuse(&r, http.StatusUnauthorized, model.ErrorCodeUnauthorized, "The credential is missing or unknown.")
		if b.options.Bearer != "" {
			no.Challenge = "Bearer"
		}
		return no
	}
	if len(r.Body) > MaxBody {
		return refuse(&r, http.StatusRequestEntityTooLarge, model.ErrorCodePayloadTooLarge, "The body has more than 65,536 bytes.")
	}
	if kind, _, _ := strings.Cut(r.ContentType, ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return refuse(&r, http.StatusUnsupportedMediaType, model.ErrorCodeUnsupportedMediaType, "Send Content-Type: application/json.")
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil || members == nil || decoder.More() {
		return refuse(&r, http.StatusBadRequest, model.ErrorCodeMalformedJSON, "The body is not one JSON object.")
	}
	r.Key = strings.TrimSuffix(strings.TrimPrefix(r.Key, `"`), `"`)
	if !isVisibleASCII(r.Key, 255) {
		code := model.FieldErrorCodeInvalidFormat
		if r.Key == "" {
			code = model.FieldErrorCodeMissingRequired
		}
		return invalid(&r, []model.FieldError{{Field: "Idempotency-Key", Code: code, Expected: "1 to 255 visible ASCII characters"}})
	}
	if r.Path == "/v1/ping" {
		return b.answerPing(ctx, &r, members)
	}
	return b.answerPost(ctx, &r, members)
}

// isAuthorized compares the credentials by their hashes, so the time does not reveal them.
func (b *Buyer) isAuthorized(r *Request) bool {
	switch {
	case b.options.Bearer != "":
		scheme, token, _ := strings.Cut(r.Authorization, " ")
		return strings.EqualFold(scheme, "Bearer") && equal(strings.TrimSpace(token), b.options.Bearer)
	case b.options.APIKey != "":
		return equal(r.APIKey, b.options.APIKey)
	}
	return true
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isVisibleASCII reports whether the text has 1 to longest visible ASCII characters.
func isVisibleASCII(text string, longest int) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

func refuse(r *Request, status int, code model.ErrorCode, message string) Response {
	return respond(r, status, model.Error{Error: code, Message: message, RequestID: r.RequestID})
}

func invalid(r *Request, wrong []model.FieldError) Response {
	return respond(r, http.StatusUnprocessableEntity, model.Error{
		Error: model.ErrorCodeInvalidPayload, Message: "Members of the request are missing or wrong.",
		RequestID: r.RequestID, FieldErrors: wrong,
	})
}

func respond(r *Request, status int, body any) Response {
	text, err := json.Marshal(body)
	if err != nil { // NaN and infinities were rejected before
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	return Response{Status: status, RequestID: r.RequestID, Body: text}
}
