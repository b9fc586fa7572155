package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// seedLeads is how many leads a call asks for: the most that it may.
const seedLeads = 1000

const sandboxToken = "bench-token-of-no-value"

// sandboxed makes the document a sandbox's, with a static token.
func (d *document) sandboxed() *document {
	d.Sandbox = true
	d.Suppliers = []any{object{
		"id": supplierID, "api_key": apiKey, "ingest_rate": 1_000_000, "bearer_tokens": []any{object{"token": sandboxToken}},
	}}
	return d
}

// seed measures what a call for made-up leads costs a sandbox's processor. Calls
// come one after the other, each with a seed of its own; who makes them is not
// counted.
func (b *bench) seed() ([]row, error) {
	s, err := b.startExchange("seed", catalogOf(10).sandboxed())
	if err != nil {
		return nil, err
	}
	defer s.end()
	var each series
	next := 0
	for range b.size.runs {
		var milliseconds float64
		err := b.guard.measure([]*process{s.process}, func() (err error) {
			milliseconds, err = b.seedTime(s.process, &next)
			return err
		})
		if err != nil {
			return nil, err
		}
		each = append(each, milliseconds)
	}
	return []row{seedRow(each)}, nil
}

func seedRow(each series) row {
	return row{
		what: fmt.Sprintf("/v1/dev/seed of %d leads: processor time of a call", seedLeads), measured: fmt.Sprintf("%.1f ms", each.median()),
		spread: each.spread("%.1f"), goal: "under 50 ms", verdict: atMost(each.median(), 50, 50),
	}
}

// seedTime is the server's processor time of a call, in milliseconds.
func (b *bench) seedTime(p *process, next *int) (float64, error) {
	if err := b.askSeed(p, next); err != nil { // the first of all finds cold code
		return 0, err
	}
	before, err := p.ticks()
	if err != nil {
		return 0, fmt.Errorf("the processor time of a call is read from /proc: %w", err)
	}
	for range b.size.seedCalls {
		if err := b.askSeed(p, next); err != nil {
			return 0, err
		}
	}
	after, err := p.ticks()
	return float64((time.Duration(after-before)*tick)/time.Microsecond) / 1000 / float64(b.size.seedCalls), err
}

// askSeed makes one call. One that is too early for the bucket of a server that
// has just started is made again.
func (b *bench) askSeed(p *process, next *int) error {
	*next++
	for {
		body := fmt.Sprintf(`{"count":%d,"vertical":"auto_insurance","state":"CA","seed":%d}`, seedLeads, *next)
		request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, "http://"+p.Listen+"/v1/dev/seed", strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+sandboxToken)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		size, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		switch {
		case err != nil:
			return err
		case response.StatusCode == http.StatusTooManyRequests:
			time.Sleep(10 * time.Millisecond)
		case response.StatusCode != http.StatusCreated:
			return fmt.Errorf("/v1/dev/seed: status %d", response.StatusCode)
		case size < seedLeads*100:
			return errors.New("/v1/dev/seed: that are no leads")
		default:
			return nil
		}
	}
}
