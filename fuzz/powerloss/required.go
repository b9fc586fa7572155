package main

import (
	"fmt"
	"strings"
)

// requiredSeq returns the log entry that an ack relies on. A missing entry is an error.
func (f *logIndex) requiredSeq(a *ack) (uint64, error) {
	switch {
	case a.revision >= 0, a.isErasure:
		return 0, nil // checkConfigDocuments and the order of erasures find the entry
	case a.event != "":
		if seq := f.seqByWebhook[a.lead+" "+a.event]; seq != 0 {
			return seq, nil
		}
		return 0, fmt.Errorf("webhook %s of lead %s was sent, but no entry triggers it", a.event, a.lead)
	case a.postHost != "":
		for _, s := range f.leadStates[a.lead] {
			if s.open && strings.Contains(s.url, "//"+a.postHost+"/") {
				return s.seq, nil
			}
		}
		return 0, fmt.Errorf("lead %s was posted to %s, but no entry decides this post", a.lead, a.postHost)
	}
	return f.answerSeq(a)
}

// answerSeq returns the entry that an answer relies on.
func (f *logIndex) answerSeq(a *ack) (uint64, error) {
	seq, known := f.seqByRequest[a.request]
	if !known {
		return 0, fmt.Errorf("request %s was answered with status %d, but no entry belongs to it", a.request, a.status)
	}
	lead, brought := f.leadByRequest[a.request]
	if !brought {
		return seq, nil
	}
	if a.lead != "" && a.lead != lead {
		return 0, fmt.Errorf("request %s was answered with lead %s, but the log has lead %s", a.request, a.lead, lead)
	}
	for _, s := range f.leadStates[lead] {
		if fits := a.buyer == "" && s.buyer == 0 || s.sold && f.names[s.buyer] == a.buyer && a.buyer != ""; fits {
			return s.seq, nil
		}
	}
	return 0, fmt.Errorf("lead %s was answered with buyer %q, but no entry sells it to that buyer", lead, a.buyer)
}
