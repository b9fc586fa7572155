package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// door is where the exchange can be found now.
type door struct {
	mu      sync.Mutex
	address string
	changed chan struct{}
}

func newDoor() *door { return &door{changed: make(chan struct{})} }

// set opens the door, or with an empty address shuts it.
func (d *door) set(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	close(d.changed)
	d.changed = make(chan struct{})
}

// find waits until there is an address; "": the context has ended.
func (d *door) find(ctx context.Context) string {
	for {
		d.mu.Lock()
		address, changed := d.address, d.changed
		d.mu.Unlock()
		if address != "" {
			return address
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ""
		}
	}
}

// caller sends orders and takes no failure for an answer.
type caller struct {
	door   *door
	client http.Client
	chance *rand.Rand
}

func newCaller(d *door, chance *rand.Rand) *caller {
	return &caller{door: d, chance: chance, client: http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}}
}

// send sends an order until it is answered; false: the context has ended.
func (c *caller) send(ctx context.Context, o *order) (answer, bool) {
	for {
		address := c.door.find(ctx)
		if address == "" {
			return answer{}, false
		}
		a, err := c.try(ctx, address, o)
		if err == nil && a.status != http.StatusTooManyRequests && a.status < 500 {
			return a, true
		}
		select {
		case <-time.After(time.Duration(2+c.chance.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
			return answer{}, false
		}
	}
}

// try sends an order once.
func (c *caller) try(ctx context.Context, address string, o *order) (a answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+o.path, bytes.NewReader(o.body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", o.key)
	if o.token == "" {
		request.Header.Set("x-api-key", apiKey)
	} else {
		request.Header.Set("Authorization", "Bearer "+o.token)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{
		status: response.StatusCode, request: response.Header.Get("X-Request-Id"),
		replayed: response.Header.Get("Idempotent-Replayed") == "true", text: string(text),
	}, err
}
