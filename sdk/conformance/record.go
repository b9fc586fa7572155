package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// records is what has passed a proxy or a gate since the case began.
type records struct {
	mu   sync.Mutex
	list []map[string]any
}

// add keeps a request as it came. The record gets its status when it was answered.
func (r *records) add(req *http.Request, body []byte) map[string]any {
	headers := map[string]any{}
	for name, values := range req.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	record := map[string]any{
		"on": req.Method + " " + req.URL.RequestURI(), "headers": headers, "text": string(body),
	}
	if value, err := decode(body); err == nil {
		record["body"] = value
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, record)
	return record
}

// answered notes what the request was answered with.
func (r *records) answered(record map[string]any, status int, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record["status"] = number(status)
	if value, err := decode(body); err == nil {
		record["answer"] = value
	}
}

func (r *records) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}

// of are copies of the records of one method and path, or of all.
func (r *records) of(on string) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := []any{}
	for _, record := range r.list {
		if on == "" || record["on"] == on {
			shown := make(map[string]any, len(record))
			for name, value := range record {
				shown[name] = value
			}
			found = append(found, shown)
		}
	}
	return found
}

// look is what a case expects of records.
type look struct {
	On     string   `json:"on"`     // method and path; all where it is left out
	Count  *int     `json:"count"`  // how many there are
	Same   []string `json:"same"`   // paths that have the same value in all, such as text and headers.idempotency-key
	Differ []string `json:"differ"` // paths that have another value in each
	Each   any      `json:"each"`
	First  any      `json:"first"`
	Last   any      `json:"last"`
}

func (l *look) judge(what string, found []any) (wrong []string) {
	if l.Count != nil && len(found) != *l.Count {
		seen := make([]string, 0, len(found))
		for _, record := range found {
			status, _ := dig(record, "status")
			on, _ := dig(record, "on")
			seen = append(seen, fmt.Sprintf("%v → %v", on, status))
		}
		return []string{fmt.Sprintf("%s: %d requests, want %d: %s", what, len(found), *l.Count, strings.Join(seen, "; "))}
	}
	if len(found) == 0 {
		if l.Count == nil {
			return []string{what + ": no such request"}
		}
		return nil
	}
	for _, path := range l.Same {
		for i := range found[1:] {
			wrong = append(wrong, compare(what, path, found[0], found[i+1], true)...)
		}
	}
	for _, path := range l.Differ {
		for i := range found {
			for j := range found[:i] {
				wrong = append(wrong, compare(what, path, found[j], found[i], false)...)
			}
		}
	}
	for i, record := range found {
		if l.Each != nil {
			wrong = append(wrong, match(fmt.Sprintf("%s[%d]", what, i), l.Each, record, true)...)
		}
	}
	if l.First != nil {
		wrong = append(wrong, match(what+".first", l.First, found[0], true)...)
	}
	if l.Last != nil {
		wrong = append(wrong, match(what+".last", l.Last, found[len(found)-1], true)...)
	}
	return wrong
}

// compare holds two records against each other at a path where both must have a value.
func compare(what, path string, a, b any, equal bool) []string {
	x, thereX := dig(a, path)
	y, thereY := dig(b, path)
	if !thereX || !thereY {
		return []string{fmt.Sprintf("%s: %s is not in all of them", what, path)}
	}
	if (show(x) == show(y)) != equal {
		word := map[bool]string{true: "differs", false: "is the same"}[equal]
		return []string{fmt.Sprintf("%s: %s %s: %s and %s", what, path, word, show(x), show(y))}
	}
	return nil
}
