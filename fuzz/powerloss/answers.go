package main

import (
	"math/rand/v2"
	"slices"
	"sync"

	"pingpost/fuzz/witness"
)

// answeredRequest is a request with its first answer. All later answers must be equal.
type answeredRequest struct {
	*witness.Request
	witness.Response
}

// answerLog holds all answers to the clients.
type answerLog struct {
	mu           sync.Mutex
	answers      []*answeredRequest
	byRequestID  map[string]*answeredRequest
	lostRequests map[string]bool // requests with an answer that a power loss undid
	violations   []string
}

// add records the first answer under a key.
func (l *answerLog) add(p *witness.Request, a witness.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lostRequests[a.RequestID] {
		return // the worker was slower than the power loss
	}
	if l.byRequestID == nil {
		l.byRequestID = map[string]*answeredRequest{}
	}
	t := &answeredRequest{p, a}
	l.answers = append(l.answers, t)
	l.byRequestID[a.RequestID] = t
}

// compareRepeat compares a repeated answer with the first one. It ignores answers that a power
// loss has undone in the meantime.
func (l *answerLog) compareRepeat(first *answeredRequest, again witness.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := first.difference(again); why != "" && !l.lostRequests[first.RequestID] {
		l.violations = append(l.violations, why)
	}
}

// difference describes the difference between two answers, or returns "".
func (t *answeredRequest) difference(again witness.Response) string {
	if again.Status == t.Status && again.Body == t.Response.Body && again.RequestID == t.RequestID {
		return ""
	}
	return "key " + t.Key + ": first answer " + t.Response.Body + " (" + t.RequestID + "), repeated request answered " + again.Body + " (" + again.RequestID + ")"
}

// pickRandom returns a random answer, or nil if the log is empty.
func (l *answerLog) pickRandom(random *rand.Rand) *answeredRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answers) == 0 {
		return nil
	}
	return l.answers[random.IntN(len(l.answers))]
}

// forgetAnswersAfter removes the answers with a first ack later than the tick.
func (l *answerLog) forgetAnswersAfter(acks []ack, tick int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := map[string]bool{}
	for i := range acks {
		if _, known := late[acks[i].request]; !known || acks[i].tick <= tick {
			late[acks[i].request] = acks[i].tick > tick
		}
	}
	if l.lostRequests == nil {
		l.lostRequests = map[string]bool{}
	}
	for request, is := range late {
		if is {
			l.lostRequests[request] = true
			delete(l.byRequestID, request)
		}
	}
	l.answers = slices.DeleteFunc(l.answers, func(t *answeredRequest) bool { return late[t.RequestID] })
}

// findByRequestID returns the answer with the request id, or nil.
func (l *answerLog) findByRequestID(request string) *answeredRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRequestID[request]
}

// violationList returns the violations so far.
func (l *answerLog) violationList() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.violations...)
}
