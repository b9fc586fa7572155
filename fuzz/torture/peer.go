//go:build linux

package main

import (
	"syscall"
	"time"
)

// A buyer or the webhook receiver accepts connections and does not answer, usually for seconds.
// Once in a long run it is silent for longer than all attempts of a post. The deliveries then
// stay unconfirmed and the operator must resolve them.
var (
	_ = register(fault{name: "neighbor silent for seconds", weight: 2, inject: func(t *torture) bool {
		return t.stopPeer(time.Second+time.Duration(t.random.Int64N(int64(maxPause))), fewLeads)
	}})
	_ = register(fault{
		name: "neighbor silent for a minute", weight: 1,
		missing: func(t *torture) string {
			if t.span < 3*time.Minute {
				return "the run is shorter than 3 minutes"
			}
			return ""
		},
		inject: func(t *torture) bool { return t.stopPeer(time.Minute, maxLeads) },
	})
)

// stopPeer stops one peer for a time while leads arrive.
func (t *torture) stopPeer(span time.Duration, leads int) bool {
	pids := t.PeerPIDs()
	pid := pids[t.random.IntN(len(pids))]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.reporter.Fatal(err)
	}
	t.Suppliers.SendLeads(leads)
	time.Sleep(span)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.reporter.Fatal(err)
	}
	return true
}
