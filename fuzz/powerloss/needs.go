package main

import (
	"fmt"
	"strings"
)

// needs is the entry that has to be there once something was told; it is an error
// where there is none.
func (f *facts) needs(a *ack) (uint64, error) {
	switch {
	case a.revision >= 0, a.erased:
		return 0, nil // the documents, and the order of erasures, say which entry that is
	case a.event != "":
		if seq := f.events[a.lead+" "+a.event]; seq != 0 {
			return seq, nil
		}
		return 0, fmt.Errorf("the event %s of lead %s was sent, and no entry owes it", a.event, a.lead)
	case a.host != "":
		for _, s := range f.standing[a.lead] {
			if s.open && strings.Contains(s.url, "//"+a.host+"/") {
				return s.seq, nil
			}
		}
		return 0, fmt.Errorf("lead %s was posted to %s, and no entry intends it", a.lead, a.host)
	}
	return f.answered(a)
}

// answered is the entry that an answer rests on.
func (f *facts) answered(a *ack) (uint64, error) {
	seq, known := f.requests[a.request]
	if !known {
		return 0, fmt.Errorf("request %s was answered %d, and no entry is of it", a.request, a.status)
	}
	lead, brought := f.leadOf[a.request]
	if !brought {
		return seq, nil
	}
	if a.lead != "" && a.lead != lead {
		return 0, fmt.Errorf("request %s was answered with lead %s, and brought lead %s", a.request, a.lead, lead)
	}
	for _, s := range f.standing[lead] {
		if fits := a.buyer == "" && s.to == 0 || s.sold && f.names[s.to] == a.buyer && a.buyer != ""; fits {
			return s.seq, nil
		}
	}
	return 0, fmt.Errorf("lead %s was told to be %q's, and no entry says so", lead, a.buyer)
}
