package main

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// raw is a request by a plain HTTP client, to a buyer's endpoint or to the exchange. What
// comes of it has status, headers (by their names in lower case), text, and body where
// the text is JSON.
type raw struct {
	Method  string            `json:"method"` // POST by default
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // beside Content-Type: application/json; "" takes one away
	Body    any               `json:"body"`    // as JSON
	Text    *string           `json:"text"`    // in place of a body
}

var rawClient = &http.Client{
	Timeout:       patience,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (r *raw) send() (map[string]any, error) {
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
