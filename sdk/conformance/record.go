package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// requestLog holds the requests that passed a proxy or a gate in the current case.
type requestLog struct {
	mu   sync.Mutex
	list []map[string]any
}

// add records a request as received. The record gets its status with the answer.
func (r *requestLog) add(req *http.Request, body []byte) map[string]any {
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

// setAnswer adds the answer to a record.
func (r *requestLog) setAnswer(record map[string]any, status int, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record["status"] = number(status)
	if value, err := decode(body); err == nil {
		record["answer"] = value
	}
}

func (r *requestLog) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}

// matching returns copies of the records of one method and path, or of all.
func (r *requestLog) matching(on string) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := []any{}
	for _, record := range r.list {
		if on == "" || record["on"] == on {
			found = append(found, maps.Clone(record))
		}
	}
	return found
}

// recordCheck is a case's expectation of the records.
type recordCheck struct {
	On     string   `json:"on"`     // method and path; empty: all
	Count  *int     `json:"count"`  // number of records
	Same   []string `json:"same"`   // paths with equal values in all records, such as text and headers.idempotency-key
	Differ []string `json:"differ"` // paths with different values in all records
	Each   any      `json:"each"`
	First  any      `json:"first"`
	Last   any      `json:"last"`
}

func (l *recordCheck) check(what string, found []any) (wrong []string) {
	if l.Count != nil && len(found) != *l.Count {
		seen := make([]string, 0, len(found))
		for _, record := range found {
			status, _ := valueAt(record, "status")
			on, _ := valueAt(record, "on")
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

// compare compares two records at a path; both must have a value there.
func compare(what, path string, a, b any, equal bool) []string {
	x, thereX := valueAt(a, path)
	y, thereY := valueAt(b, path)
	if !thereX || !thereY {
		return []string{fmt.Sprintf("%s: %s is missing in some records", what, path)}
	}
	if (shortJSON(x) == shortJSON(y)) != equal {
		word := map[bool]string{true: "differs", false: "is the same"}[equal]
		return []string{fmt.Sprintf("%s: %s %s: %s and %s", what, path, word, shortJSON(x), shortJSON(y))}
	}
	return nil
}
