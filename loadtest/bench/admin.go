package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"pingpost/loadtest/bench/child"
)

// heap counts the allocations of a process since it started.
type heap struct{ objects, bytes uint64 }

// heapTotals fetches the allocation counts of a server.
func (p *process) heapTotals(ctx context.Context) (h heap, err error) {
	var text bytes.Buffer
	if err := p.getAdmin(ctx, child.HeapPath+"?debug=1", &text); err != nil {
		return h, err
	}
	return parseHeap(text.String())
}

var errHeap = errors.New("the heap profile lacks Mallocs or TotalAlloc")

func parseHeap(text string) (h heap, err error) {
	figures := map[string]*uint64{"# Mallocs": &h.objects, "# TotalAlloc": &h.bytes}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		figure, wanted := figures[name]
		if !wanted {
			continue
		}
		if *figure, err = strconv.ParseUint(value, 10, 64); err != nil {
			return h, errHeap
		}
		delete(figures, name)
	}
	if len(figures) > 0 {
		return h, errHeap
	}
	return h, nil
}

// liveHeap makes a server collect garbage, and returns the bytes that its Go heap has then.
func (p *process) liveHeap(ctx context.Context) (float64, error) {
	var text strings.Builder
	if err := p.getAdmin(ctx, child.HeapPath+"?gc=1&debug=1", &text); err != nil {
		return 0, err
	}
	for line := range strings.Lines(text.String()) {
		if value, found := strings.CutPrefix(line, "# HeapAlloc = "); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, errors.New("the heap profile lacks HeapAlloc")
}

// metric fetches the value of a metric of an exchange.
func (p *process) metric(ctx context.Context, name string) (float64, error) {
	var text strings.Builder
	if err := p.getAdmin(ctx, "/metrics", &text); err != nil {
		return 0, err
	}
	for line := range strings.Lines(text.String()) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the exchange has no metric %s", name)
}

// getAdmin copies the answer of an admin path to a writer.
func (p *process) getAdmin(ctx context.Context, path string, to io.Writer) error {
	return p.callAdmin(ctx, http.MethodGet, path, "", to)
}

// callAdmin sends a request, with a JSON body if that is not empty, to the admin API of a server and
// copies the answer.
func (p *process) callAdmin(ctx context.Context, method, path, body string, to io.Writer, headers ...string) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+p.Admin+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth("operator", apiKey)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		output, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, output)
	}
	_, err = io.Copy(to, response.Body)
	return err
}

// profile fetches a CPU profile of the exchange while load runs. The load must last two
// seconds longer than the profile.
func (b *bench) profile(p *process, path string, load func() error) error {
	done := make(chan error, 1)
	go func() { done <- b.fetchProfile(p, path) }()
	err := load()
	return errors.Join(err, <-done)
}

func (b *bench) fetchProfile(p *process, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	text := bufio.NewWriter(file)
	err = p.getAdmin(b.ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(b.size.duration.Seconds())), text)
	return errors.Join(err, text.Flush(), file.Close())
}
