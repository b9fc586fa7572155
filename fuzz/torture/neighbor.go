//go:build linux

package main

import (
	"syscall"
	"time"
)

// A buyer, or the endpoint for webhooks, that takes connections and says nothing: for
// seconds, or once in a long run for longer than all tries of a post take, so that
// nobody knows what became of its leads, and the operator has to say it.
var (
	_ = register(fault{name: "neighbor silent for seconds", weight: 2, strike: func(t *torture) bool {
		return t.silence(time.Second+time.Duration(t.chance.Int64N(int64(longest))), few)
	}})
	_ = register(fault{
		name: "neighbor silent for a minute", weight: 1,
		lacks: func(t *torture) string {
			if t.span < 3*time.Minute {
				return "the run is too short"
			}
			return ""
		},
		strike: func(t *torture) bool { return t.silence(time.Minute, most) },
	})
)

// silence holds one neighbor for a time, while leads come.
func (t *torture) silence(span time.Duration, leads int) bool {
	pids := t.PeerPIDs()
	pid := pids[t.chance.IntN(len(pids))]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.clerk.Fatal(err)
	}
	t.Suppliers.SendLeads(leads)
	time.Sleep(span)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.clerk.Fatal(err)
	}
	return true
}
