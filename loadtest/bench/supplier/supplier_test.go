package supplier

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/loadtest/load"
)

// TestRepeatsAtTheNextNode: the first node fails, hangs or refuses. Each lead is acknowledged once, under one
// key, by the second node.
func TestRepeatsAtTheNextNode(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) },
		"hangs":   func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		"breaks":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no id": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"data":{"status":"ACCEPTED"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var down atomic.Bool
			accept := func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"data":{"id":%q,"status":"ACCEPTED"}}`, r.Header.Get("Idempotency-Key"))
			}
			one := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if down.Load() {
					fail(w, r)
					return
				}
				accept(w, r)
			}))
			defer one.Close()
			two := httptest.NewServer(http.HandlerFunc(accept))
			defer two.Close()
			addrs := []string{strings.TrimPrefix(one.URL, "http://"), strings.TrimPrefix(two.URL, "http://")}
			s := Start(t.Context(), Options{
				Addrs: addrs, Interval: 20 * time.Millisecond, Patience: 200 * time.Millisecond, Leads: load.Leads{Supplier: "s", Campaigns: []string{"c"}}, First: 7,
			})
			if _, err := s.AwaitAfter(t.Context(), time.Now(), addrs[1], 10*time.Second); err != nil {
				t.Error(err)
			}
			down.Store(true)
			began := time.Now()
			first, err := s.AwaitAfter(t.Context(), began, addrs[0], 10*time.Second)
			if err != nil || first.Addr != addrs[1] || first.Began.Before(began) {
				t.Errorf("got %+v, %v", first, err)
			}
			accepted, next := s.Stop()
			ids := map[string]bool{}
			for _, a := range accepted {
				ids[a.Lead] = true
			}
			if uint64(len(ids)) != next-7 || len(accepted) != len(ids) {
				t.Errorf("%d acknowledgments of %d leads, want one for each lead from 7 to %d", len(accepted), len(ids), next)
			}
		})
	}
}

// TestAwaitAfterEnds: without an acknowledgment the error has the last failed attempt.
func TestAwaitAfterEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }))
	defer server.Close()
	s := Start(t.Context(), Options{
		Addrs: []string{strings.TrimPrefix(server.URL, "http://")}, Interval: 20 * time.Millisecond, Patience: time.Second, Leads: load.Leads{Campaigns: []string{"c"}},
	})
	if _, err := s.AwaitAfter(t.Context(), time.Now(), "", 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "status 503: busy") {
		t.Errorf("got %v", err)
	}
}
