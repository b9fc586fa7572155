package main

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// rawRequest is a request by a plain HTTP client to a buyer's endpoint or to the exchange. Its
// result has status, headers (by lower-case name), text, and for JSON a body.
type rawRequest struct {
	Method  string            `json:"method"` // default POST
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // in addition to Content-Type: application/json; "" removes a header
	Body    any               `json:"body"`    // sent as JSON
	Text    *string           `json:"text"`    // sent instead of a body
}

var rawClient = &http.Client{
	Timeout:       answerTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (r *rawRequest) send() (map[string]any, error) {
	method, text := r.Method, ""
	if method == "" {
		method = http.MethodPost
	}
	if r.Text != nil {
		text = *r.Text
	} else if r.Body != nil {
		text = string(encode(r.Body))
	}
	req, err := http.NewRequest(method, r.URL, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	began := time.Now()
	answer, err := rawClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	headers := map[string]any{}
	for name, values := range answer.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	came := map[string]any{
		"status": number(answer.StatusCode), "headers": headers, "text": string(read),
		"milliseconds": number(int(time.Since(began).Milliseconds())),
	}
	if value, err := decode(read); err == nil {
		came["body"] = value
	}
	return came, nil
}
