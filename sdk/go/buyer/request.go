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

// MaxBody is the largest body that is read, in bytes.
const MaxBody = 64 << 10

// Request is what an endpoint looks at of a request. Servers other than net/http
// make one and hand it to Answer.
type Request struct {
	Method, Path  string // the path below where the endpoint is mounted
	Authorization string
	APIKey        string // x-api-key
	ContentType   string
	Key           string // Idempotency-Key
	RequestID     string // X-Request-Id
	Body          []byte // one byte more than MaxBody is enough of one that is larger
}

// Response is what is to be sent: always JSON.
type Response struct {
	Status    int
	RequestID string // X-Request-Id
	Allow     string // Allow, "" for none
	Challenge string // WWW-Authenticate, "" for none
	Body      []byte
}

// Answer does what a request asks for.
func (b *Buyer) Answer(ctx context.Context, r Request) Response {
	if !visible(r.RequestID, 64) {
		r.RequestID = random("req_")
	}
	if r.Path != "/v1/ping" && r.Path != "/v1/post" {
		return refuse(&r, http.StatusNotFound, model.ErrorCodeNotFound, "Pings go to /v1/ping and posts to /v1/post.")
	}
	if r.Method != http.MethodPost {
		no := refuse(&r, http.StatusMethodNotAllowed, model.ErrorCodeMethodNotAllowed, "Only POST is understood here.")
		no.Allow = http.MethodPost
		return no
	}
	if !b.knows(&r) {
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
	if !visible(r.Key, 255) {
		code := model.FieldErrorCodeInvalidFormat
		if r.Key == "" {
			code = model.FieldErrorCodeMissingRequired
		}
		return invalid(&r, []model.FieldError{{Field: "Idempotency-Key", Code: code, Expected: "1 to 255 visible ASCII characters"}})
	}
	if r.Path == "/v1/ping" {
		return b.ping(ctx, &r, members)
	}
	return b.post(ctx, &r, members)
}

// knows compares by hashes, so that how long it takes tells nothing of the credential.
func (b *Buyer) knows(r *Request) bool {
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

// visible holds for 1 to longest visible ASCII characters.
func visible(text string, longest int) bool {
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
	if err != nil { // a number that is none, which is looked for before
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	return Response{Status: status, RequestID: r.RequestID, Body: text}
}
