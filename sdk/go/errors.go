package pingpost

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"pingpost/sdk/go/model"
)

// Error is what every error of a call is, found by errors.As: an [*APIError], a
// [*TransportError], a [*TimeoutError] or a [*UsageError]. [*SignatureError] is one as well.
type Error interface {
	error
	isPingpost()
}

// Kinds of [*APIError], for errors.Is.
var (
	ErrUnauthorized   = errors.New("unauthorized")    // 401: the credential is none
	ErrForbidden      = errors.New("forbidden")       // 403: it is not enough
	ErrNotFound       = errors.New("not found")       // 404
	ErrConflict       = errors.New("conflict")        // 409: something else has happened before
	ErrExpired        = errors.New("expired")         // 410: the bid is over
	ErrInvalidRequest = errors.New("invalid request") // 400 and 422: see FieldErrors and Code
	ErrRateLimited    = errors.New("rate limited")    // 429
	ErrServer         = errors.New("server error")    // 5xx
)

// APIError is an error that the exchange answered with.
type APIError struct {
	Status         int
	Code           model.ErrorCode // "" where the answer was not the exchange's
	Message        string
	RequestID      string // name it when you ask the operator for help
	FieldErrors    []model.FieldError
	Reason         string        // with post_rejected, why
	Description    string        // OAuth's error_description
	RetryAfter     time.Duration // 0 where the exchange said nothing of it
	IdempotencyKey string        // what the request was sent under; "" where it had none
}

func (e *APIError) isPingpost() {}

// Error has neither secrets nor anything of a lead in it.
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

// Is holds for the kind of the error.
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

// TransportError says that no answer came: nobody could be reached, or the connection broke,
// or what came was not to be read. What was asked for may have been done all the same; under
// the same key it may be asked for again.
type TransportError struct {
	Err            error
	IdempotencyKey string
}

func (e *TransportError) isPingpost() {}

func (e *TransportError) Error() string { return "pingpost: no answer: " + e.Err.Error() }

// Unwrap is what the transport said.
func (e *TransportError) Unwrap() error { return e.Err }

// TimeoutError says that no answer came in time. It is as with [TransportError].
type TimeoutError struct {
	After          time.Duration
	IdempotencyKey string
}

func (e *TimeoutError) isPingpost() {}

func (e *TimeoutError) Error() string { return fmt.Sprintf("pingpost: no answer in %v", e.After) }

// Timeout is true, as with errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// UsageError says that something was asked of this package that cannot be.
type UsageError struct{ Message string }

func (e *UsageError) isPingpost() {}

func (e *UsageError) Error() string { return "pingpost: " + e.Message }

// IdempotencyKey is the key that the request of an error was sent under, "" where it
// had none. A call that failed may be made again under it, however late.
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

// readError makes an error of an answer, whatever stands in it.
func readError(status int, header http.Header, body []byte, key string) *APIError {
	e := &APIError{Status: status, RequestID: header.Get("X-Request-Id"), IdempotencyKey: key}
	e.RetryAfter, _ = retryAfter(header, time.Now())
	var said map[string]json.RawMessage
	if json.Unmarshal(body, &said) != nil {
		return e
	}
	// Each member by itself, so that one of another form takes none of the others along.
	for name, into := range map[string]any{
		"error": &e.Code, "message": &e.Message, "request_id": &e.RequestID, "field_errors": &e.FieldErrors,
		"reason": &e.Reason, "error_description": &e.Description,
	} {
		if text, there := said[name]; there {
			_ = json.Unmarshal(text, into)
		}
	}
	return e
}
