//go:build unix

package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// client sends requests to random nodes, one after the other.
type client struct {
	*history
	number int
	random *rand.Rand
	http   http.Client
}

const (
	minTimeout, maxTimeout = 400 * time.Millisecond, 3 * time.Second // of an attempt
	maxPause               = 110 * time.Millisecond                  // between two requests
	giveUpPercent          = 15                                      // of the unknown results that the client does not repeat
)

// run sends requests until the history ends.
func (c *client) run() {
	defer c.http.CloseIdleConnections()
	for c.isRunning() {
		c.doNext()
		time.Sleep(randomTime(c.random, 0, maxPause))
	}
}

// send sends a request until it has a clear result, or the client gives up. It records each attempt.
func (c *client) send(r *request) answer {
	for {
		a := c.attempt(r, c.random.IntN(len(c.nodes)))
		if a.isKnown || r.key == "" || !c.mayRepeat() || a.status != 0 && c.random.IntN(100) < giveUpPercent {
			return a
		}
		time.Sleep(randomTime(c.random, 5*time.Millisecond, 60*time.Millisecond))
	}
}

// attempt sends a request once. An attempt without a connection has certainly no effect and is not recorded.
func (c *client) attempt(r *request, node int) answer {
	o := operation{client: c.number, node: c.nodes[node].ID, request: *r, call: c.now()}
	var err error
	o.answer, err = c.exchange(r, c.nodes[node].address)
	o.end = c.now()
	if !errors.Is(err, syscall.ECONNREFUSED) {
		c.add(&o)
	}
	return o.answer
}

func (c *client) exchange(r *request, address string) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), randomTime(c.random, minTimeout, maxTimeout))
	defer cancel()
	method := http.MethodPost
	if r.kind == lookup {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, address+r.path, bytes.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	if r.token == "" {
		req.Header.Set("X-Api-Key", witness.APIKey)
	} else {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.kind != lookup {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", r.key)
		req.GetBody = nil // the library must not repeat a request by itself
	}
	response, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	return newAnswer(response.StatusCode, response.Header, text), nil
}
