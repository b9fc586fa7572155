package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pingpost/loadtest/bench/child"
)

// seedLeads is the number of leads of a call: the highest allowed.
const seedLeads = 1000

const sandboxToken = "bench-token-of-no-value"

// asSandbox turns the document into a sandbox configuration with a static token.
func (d *document) asSandbox() *document {
	d.Sandbox = true
	d.Suppliers = []any{object{
		"id": child.SupplierID, "api_key": apiKey, "ingest_rate": 1_000_000, "bearer_tokens": []any{object{"token": sandboxToken}},
	}}
	return d
}

// seed measures the server's CPU time for a call that generates leads in a sandbox. Calls
// are sequential, and each has another seed.
func (b *bench) seed() ([]row, error) {
	s, err := b.startExchange("seed", catalogWithCampaigns(10).asSandbox())
	if err != nil {
		return nil, err
	}
	next := 0
	each, err := runEachRepetition(b, func() (float64, error) { return b.seedTime(s.process, &next) })
	if err != nil {
		return nil, err
	}
	return []row{seedRow(each)}, nil
}

func seedRow(each series) row {
	return row{
		label: fmt.Sprintf("/v1/dev/seed of %d leads: processor time of a call", seedLeads), measured: fmt.Sprintf("%.1f ms", each.median()),
		rangeText: each.rangeText("%.1f"), goal: "under 50 ms", verdict: atMost(each.median(), 50, 50),
	}
}

// seedTime returns the server's CPU time for a call in milliseconds.
func (b *bench) seedTime(p *process, next *int) (float64, error) {
	if err := b.callSeed(p, next); err != nil { // warm up
		return 0, err
	}
	before := p.cpuSeconds()
	for range b.size.seedCalls {
		if err := b.callSeed(p, next); err != nil {
			return 0, err
		}
	}
	return 1e3 * (p.cpuSeconds() - before) / float64(b.size.seedCalls), nil
}

// callSeed makes one call. It repeats the call while the answer is 429.
func (b *bench) callSeed(p *process, next *int) error {
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
			return errors.New("/v1/dev/seed: the answer is too short for the leads")
		default:
			return nil
		}
	}
}
