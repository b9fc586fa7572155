package pingpost

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"pingpost/sdk/go/model"
)

// Error is implemented by every error of a call; find it with errors.As. It is an [*APIError],
// a [*TransportError], a [*TimeoutError] or a [*UsageError]. [*SignatureError] implements it
// too.
type Error interface {
	error
	isPingpost()
}

// Kinds of [*APIError], for errors.Is.
var (
	ErrUnauthorized   = errors.New("unauthorized")    // 401: the credential is missing or invalid
	ErrForbidden      = errors.New("forbidden")       // 403: the credential does not permit this
	ErrNotFound       = errors.New("not found")       // 404
	ErrConflict       = errors.New("conflict")        // 409: an earlier event rules this out
	ErrExpired        = errors.New("expired")         // 410: the bid has expired
	ErrInvalidRequest = errors.New("invalid request") // 400 and 422: see FieldErrors and Code
	ErrRateLimited    = errors.New("rate limited")    // 429
	ErrServer         = errors.New("server error")    // 5xx
)

// APIError is an error answer of the exchange.
type APIError struct {
	Status         int
	Code           model.ErrorCode // "" if the answer is not from the exchange
	Message        string
	RequestID      string // quote it when you ask the operator for help
	FieldErrors    []model.FieldError
	Reason         string        // the reason of post_rejected
	Description    string        // OAuth's error_description
	RetryAfter     time.Duration // 0 if the answer has no Retry-After
	IdempotencyKey string        // key of the request, or ""
}

func (e *APIError) isPingpost() {}

// Error returns a text without secrets and personal data.
func (e *APIError) Error() string {
	code, message := string(e.Code), e.Message
	if code == "" {
		code = http.StatusText(e.Status)
	}
	text := fmt.Sprintf("pingpost: %d %s", e.Status, code)
	if message != "" {
		text += ": " + message
	}
	for i, f := range e.FieldErrors {
		text += map[bool]string{true: " (", false: ", "}[i == 0] + f.Field + " " + string(f.Code)
	}
	if len(e.FieldErrors) > 0 {
		text += ")"
	}
	if e.RequestID != "" {
		text += " [" + e.RequestID + "]"
	}
	return text
}

// Is reports whether the error is of the kind.
func (e *APIError) Is(target error) bool {
	switch e.Status {
	case http.StatusUnauthorized:
		return target == ErrUnauthorized
	case http.StatusForbidden:
		return target == ErrForbidden
	case http.StatusNotFound:
		return target == ErrNotFound
	case http.StatusConflict:
		return target == ErrConflict
	case http.StatusGone:
		return target == ErrExpired
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return target == ErrInvalidRequest
	case http.StatusTooManyRequests:
		return target == ErrRateLimited
	}
	return e.Status >= 500 && target == ErrServer
}

// TransportError reports that no usable answer arrived: the connection failed or broke, or the
// answer was unreadable. The exchange may have processed the request; repeat it with the same
// key.
type TransportError struct {
	Err            error
	IdempotencyKey string
}

func (e *TransportError) isPingpost() {}

func (e *TransportError) Error() string { return "pingpost: no answer: " + e.Err.Error() }

// Unwrap returns the transport's error.
func (e *TransportError) Unwrap() error { return e.Err }

// TimeoutError reports that no answer arrived in time. As with [TransportError], the exchange
// may have processed the request.
type TimeoutError struct {
	After          time.Duration
	IdempotencyKey string
}

func (e *TimeoutError) isPingpost() {}

func (e *TimeoutError) Error() string { return fmt.Sprintf("pingpost: no answer in %v", e.After) }

// Timeout returns true, like timeout errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// UsageError reports a wrong use of this package.
type UsageError struct{ Message string }

func (e *UsageError) isPingpost() {}

func (e *UsageError) Error() string { return "pingpost: " + e.Message }

// IdempotencyKey returns the key of the failed request, or "". The call can be repeated with
// this key at any time.
func IdempotencyKey(err error) string {
	var api *APIError
	var transport *TransportError
	var timeout *TimeoutError
	switch {
	case errors.As(err, &api):
		return api.IdempotencyKey
	case errors.As(err, &transport):
		return transport.IdempotencyKey
	case errors.As(err, &timeout):
		return timeout.IdempotencyKey
	}
	return ""
}

// readError decodes any error answer.
func readError(status int, header http.Header, body []byte, key string) *APIError {
	e := &APIError{Status: status, RequestID: header.Get("X-Request-Id"), IdempotencyKey: key}
	e.RetryAfter, _ = retryAfter(header, time.Now())
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return e
	}
	// Decode each member alone, so that one malformed member does not discard the others.
	for name, into := range map[string]any{
		"error": &e.Code, "message": &e.Message, "request_id": &e.RequestID, "field_errors": &e.FieldErrors,
		"reason": &e.Reason, "error_description": &e.Description,
	} {
		if text, there := members[name]; there {
			_ = json.Unmarshal(text, into)
		}
	}
	return e
}
