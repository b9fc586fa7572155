// Package supplier sends leads to the nodes of a cluster at even intervals. It repeats each lead at the next
// node, under the same idempotency key, until one acknowledges it.
package supplier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"pingpost/loadtest/load"
)

// Options of a supplier.
type Options struct {
	Addrs    []string      // of the nodes, which get the leads in turn
	Interval time.Duration // between two leads
	Patience time.Duration // most time until the answer to one attempt
	Leads    load.Leads
	Key      string // the supplier's API key
	First    uint64 // number of the first lead
}

// repeatPause is the pause of a lead between two attempts.
const repeatPause = 5 * time.Millisecond

// Acknowledgment is a lead that a node accepted.
type Acknowledgment struct {
	Lead     string // id
	Addr     string // of the node that answered
	Began    time.Time
	Received time.Time
	Attempts int
}

// Supplier sends leads until its end.
type Supplier struct {
	opt     Options
	client  http.Client
	stop    chan struct{}
	sending sync.WaitGroup
	next    uint64 // of Start's goroutine until sending ends

	mu       sync.Mutex // guards the rest
	accepted []Acknowledgment
	failed   error // the last failed attempt
}

// Start begins to send leads. An attempt ends early if the context ends.
func Start(ctx context.Context, opt Options) *Supplier {
	s := &Supplier{opt: opt, stop: make(chan struct{}), next: opt.First}
	s.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	s.sending.Go(func() {
		ticker := time.NewTicker(opt.Interval)
		defer ticker.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				n := s.next
				s.next++
				s.sending.Go(func() { s.sendUntilAccepted(ctx, n) })
			}
		}
	})
	return s
}

// Stop ends the sending, and waits until all leads are acknowledged. It returns the acknowledgments, and the
// number after the last lead.
func (s *Supplier) Stop() (accepted []Acknowledgment, next uint64) {
	close(s.stop)
	s.sending.Wait()
	s.client.CloseIdleConnections()
	return s.accepted, s.next
}

// AwaitAfter waits for the first acknowledgment of a lead that began after a time, by another node than the
// one at the address except.
func (s *Supplier) AwaitAfter(ctx context.Context, began time.Time, except string, limit time.Duration) (Acknowledgment, error) {
	for deadline := began.Add(limit); ; time.Sleep(time.Millisecond) {
		first, err := s.findAfter(began, except)
		switch {
		case err == nil || ctx.Err() != nil:
			return first, errors.Join(err, ctx.Err())
		case time.Now().After(deadline):
			return first, fmt.Errorf("no node acknowledged a lead within %s; the last attempt: %w", limit, err)
		}
	}
}

// findAfter returns the acknowledgment that was received first, or the error of the last failed attempt.
func (s *Supplier) findAfter(began time.Time, except string) (first Acknowledgment, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.accepted {
		if a := &s.accepted[i]; a.Began.After(began) && a.Addr != except && (first.Lead == "" || a.Received.Before(first.Received)) {
			first = *a
		}
	}
	if first.Lead == "" {
		return first, errors.Join(errors.New("no acknowledgment"), s.failed)
	}
	return first, nil
}

// sendUntilAccepted sends a lead to one node after the other.
func (s *Supplier) sendUntilAccepted(ctx context.Context, n uint64) {
	body := s.opt.Leads.AppendBody(nil, n)
	key := string(s.opt.Leads.AppendKey(nil, n))
	a := Acknowledgment{Began: time.Now()}
	for a.Attempts = 1; ; a.Attempts++ {
		a.Addr = s.opt.Addrs[(n+uint64(a.Attempts))%uint64(len(s.opt.Addrs))]
		lead, err := s.send(ctx, a.Addr, key, body)
		a.Lead, a.Received = lead, time.Now()
		s.mu.Lock()
		if err == nil {
			s.accepted = append(s.accepted, a)
		} else {
			s.failed = err
		}
		s.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			return
		}
		time.Sleep(repeatPause)
	}
}

// send sends a lead to a node and returns the lead's id.
func (s *Supplier) send(ctx context.Context, addr, key string, body []byte) (lead string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/api/v1/ingest", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("X-Api-Key", s.opt.Key)
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct{ ID string }
	}
	if !load.Accepted(load.Answer{Status: response.StatusCode, Body: text}) {
		return "", fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Data.ID == "" {
		return "", fmt.Errorf("the answer has no id of a lead: %s", text)
	}
	return answer.Data.ID, nil
}
