// Command conformance is the Go SDK's driver for the shared suite: see
// sdk/conformance/PROTOCOL.md.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	pingpost "pingpost/sdk/go"
)

// request is a request of the suite; each op reads its own members.
type request struct {
	ID    int    `json:"id"`
	Op    string `json:"op"`
	Async bool   `json:"async"`

	Client        string          `json:"client"`
	BaseURL       string          `json:"base_url"`
	AuthURL       string          `json:"auth_url"`
	APIKey        string          `json:"api_key"`
	ClientID      string          `json:"client_id"`
	ClientSecret  string          `json:"client_secret"`
	Scopes        []string        `json:"scopes"`
	Token         string          `json:"token"`
	Timeout       float64         `json:"timeout_seconds"`
	MaxRetries    *int            `json:"max_retries"`
	Method        string          `json:"method"`
	Lead          string          `json:"lead_id"`
	Body          json.RawMessage `json:"body"`
	Key           string          `json:"idempotency_key"`
	Test          bool            `json:"test"`
	Secrets       []string        `json:"secrets"`
	Headers       map[string]string
	Payload       []byte `json:"body_base64"`
	Now           int64  `json:"now"`
	Tolerance     int    `json:"tolerance_seconds"`
	Buyer, Flavor string
	Prefix        string
	Credential    struct {
		Bearer string `json:"bearer"`
		APIKey string `json:"api_key"`
	}
	Script *buyerScript
}

// driver holds the objects that the suite has created.
type driver struct {
	mu      sync.Mutex
	clients map[string]*pingpost.Client
	buyers  map[string]*runningBuyer

	out sync.Mutex
}

func main() {
	d := &driver{clients: map[string]*pingpost.Client{}, buyers: map[string]*runningBuyer{}}
	var open sync.WaitGroup
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var r request
			if err := json.Unmarshal(line, &r); err != nil {
				fmt.Fprintln(os.Stderr, "a line that is no request:", err)
				os.Exit(2)
			}
			if r.Async {
				open.Go(func() { d.serve(&r) })
			} else {
				d.serve(&r)
			}
		}
		if err != nil {
			break
		}
	}
	open.Wait()
}

// waitLog collects the waits of one request. The injected sleep function finds it in the
// context.
type waitLog struct {
	mu      sync.Mutex
	seconds []float64
}

type sleptKey struct{}

func note(ctx context.Context, d time.Duration) error {
	if s, is := ctx.Value(sleptKey{}).(*waitLog); is {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seconds = append(s.seconds, d.Seconds())
	}
	return ctx.Err()
}

func (d *driver) serve(r *request) {
	waits := &waitLog{}
	result, err := d.do(context.WithValue(context.Background(), sleptKey{}, waits), r)
	answer := map[string]any{"id": r.ID}
	if err != nil {
		answer["error"] = errorObject(err)
	} else {
		answer["result"] = result
	}
	waits.mu.Lock()
	if len(waits.seconds) > 0 {
		answer["slept"] = waits.seconds
	}
	waits.mu.Unlock()
	line, err := json.Marshal(answer)
	if err != nil {
		fmt.Fprintln(os.Stderr, "an answer that is no JSON:", err)
		os.Exit(2)
	}
	d.out.Lock()
	defer d.out.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

func (d *driver) do(ctx context.Context, r *request) (any, error) {
	switch r.Op {
	case "describe":
		return map[string]any{
			"language": "go", "sdk_version": pingpost.Version,
			"flavors": []string{"net/http", "fasthttp"}, "methods": names(),
			"features": []string{"errors.is", "errors.description", "buyer.prefix"},
		}, nil
	case "client.new":
		return struct{}{}, d.newClient(r)
	case "call":
		return d.call(ctx, r)
	case "webhook.verify":
		return verify(r)
	case "buyer.serve":
		return d.serveBuyer(r)
	case "buyer.script", "buyer.received", "buyer.stop":
		return d.atBuyer(r)
	}
	return nil, &pingpost.UsageError{Message: "unknown op " + r.Op}
}

// errorObject returns an error in the protocol's form.
func errorObject(err error) map[string]any {
	object := map[string]any{"kind": "usage", "message": err.Error()}
	var api *pingpost.APIError
	var transport *pingpost.TransportError
	var timeout *pingpost.TimeoutError
	var signature *pingpost.SignatureError
	switch {
	case errors.As(err, &api):
		object = map[string]any{"kind": "api", "status": api.Status, "code": api.Code, "message": api.Error(), "is": errorKinds(err)}
		if api.Description != "" {
			object["description"] = api.Description
		}
		if len(api.FieldErrors) > 0 {
			object["field_errors"] = api.FieldErrors
		}
		if api.RequestID != "" {
			object["request_id"] = api.RequestID
		}
		if api.RetryAfter > 0 {
			object["retry_after"] = api.RetryAfter.Seconds()
		}
	case errors.As(err, &transport):
		object["kind"] = "transport"
	case errors.As(err, &timeout):
		object["kind"] = "timeout"
	case errors.As(err, &signature):
		object["kind"] = "signature"
	}
	if key := pingpost.IdempotencyKey(err); key != "" {
		object["idempotency_key"] = key
	}
	return object
}

// errorKinds returns the kinds of the error.
func errorKinds(err error) []string {
	found := []string{}
	for _, k := range []struct {
		name string
		is   error
	}{
		{"unauthorized", pingpost.ErrUnauthorized},
		{"forbidden", pingpost.ErrForbidden},
		{"not_found", pingpost.ErrNotFound},
		{"conflict", pingpost.ErrConflict},
		{"expired", pingpost.ErrExpired},
		{"invalid_request", pingpost.ErrInvalidRequest},
		{"rate_limited", pingpost.ErrRateLimited},
		{"server_error", pingpost.ErrServer},
	} {
		if errors.Is(err, k.is) {
			found = append(found, k.name)
		}
	}
	return found
}
