package witness

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// caller sends orders and takes no failure for an answer.
type caller struct {
	door   *door
	token  string // of a seller
	client http.Client
	chance *rand.Rand // of how long it waits before it tries again
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
		pause := time.NewTimer(time.Duration(2+c.chance.IntN(40)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return answer{}, false
		}
	}
}

func (c *caller) try(ctx context.Context, address string, o *order) (a answer, err error) {
	path := o.path
	if path == "" {
		path = "/api/v1/ingest"
	}
	method := http.MethodPost
	if o.look {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, address+path, bytes.NewReader(o.body))
	if err != nil {
		return a, err
	}
	if strings.HasPrefix(path, "/api/") {
		req.Header.Set("x-api-key", apiKey)
	} else {
		req.Header.Set("Authorization", "Bearer "+cmp.Or(o.token, c.token))
	}
	if !o.look {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", o.key)
	}
	if o.test {
		req.Header.Set("X-Pingpost-Test", "1")
	}
	response, err := c.client.Do(req)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{
		status: response.StatusCode, request: response.Header.Get("X-Request-Id"),
		replayed: response.Header.Get("Idempotent-Replayed") == "true", text: string(body),
	}, err
}
