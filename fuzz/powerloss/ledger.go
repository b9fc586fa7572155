package main

import (
	"math/rand/v2"
	"slices"
	"sync"

	"pingpost/fuzz/witness"
)

// told is a parcel with its first answer, which is never to be another.
type told struct {
	*witness.Request
	witness.Response
}

// ledger is all that the clients were told.
type ledger struct {
	mu        sync.Mutex
	told      []*told
	byRequest map[string]*told
	forgotten map[string]bool // requests whose answers went with the power
	breaches  []string
}

// enter takes the first answer under a key.
func (l *ledger) enter(p *witness.Request, a witness.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forgotten[a.RequestID] {
		return // a desk was slower than the loss of power
	}
	if l.byRequest == nil {
		l.byRequest = map[string]*told{}
	}
	t := &told{p, a}
	l.told = append(l.told, t)
	l.byRequest[a.RequestID] = t
}

// compare takes a later answer under the same key. The first one may have gone with
// the power since it was picked.
func (l *ledger) compare(first *told, again witness.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := first.differs(again); why != "" && !l.forgotten[first.RequestID] {
		l.breaches = append(l.breaches, why)
	}
}

// differs says how; "": not at all.
func (t *told) differs(again witness.Response) string {
	if again.Status == t.Status && again.Body == t.Response.Body && again.RequestID == t.RequestID {
		return ""
	}
	return "key " + t.Key + " was told " + t.Response.Body + " (" + t.RequestID + "), and when it asked again " + again.Body + " (" + again.RequestID + ")"
}

// pick is some answer that was given; nil: there is none.
func (l *ledger) pick(chance *rand.Rand) *told {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) == 0 {
		return nil
	}
	return l.told[chance.IntN(len(l.told))]
}

// forget takes out what was told after a tick, and nothing of it before.
func (l *ledger) forget(acks []ack, tick int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := map[string]bool{}
	for i := range acks {
		if _, known := late[acks[i].request]; !known || acks[i].tick <= tick {
			late[acks[i].request] = acks[i].tick > tick
		}
	}
	if l.forgotten == nil {
		l.forgotten = map[string]bool{}
	}
	for request, is := range late {
		if is {
			l.forgotten[request] = true
			delete(l.byRequest, request)
		}
	}
	l.told = slices.DeleteFunc(l.told, func(t *told) bool { return late[t.RequestID] })
}

// of finds what the answer with a request's id was given to.
func (l *ledger) of(request string) *told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRequest[request]
}

// wrong are the answers that were not repeated.
func (l *ledger) wrong() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.breaches...)
}
