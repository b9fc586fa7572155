package contract

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// taken judges a request that was answered with success.
func (c *Contract) taken(f *findings, op place, q *Request, a *Answer) {
	c.parameters(f, op, q.Header)
	content, ok := c.of(op, "requestBody", "content")
	if !ok {
		return
	}
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if c.admin {
		if kind = c.kind(f, op, content, q.Body); kind == "" {
			return
		}
	}
	schema, ok := c.of(content, kind, "schema")
	if !ok {
		f.add("a body of type %q was taken, which is not documented", kind)
		return
	}
	body := q.Body
	if kind == "application/x-www-form-urlencoded" {
		body = unform(body)
	}
	body = spoken(body)
	if op.its["operationId"] == "reportStatuses" {
		if body = withoutRefused(body, a.Body); body == nil {
			return
		}
	}
	f.value("the request", c, schema, c.open, body)
}

// kind is what a body is at the operators' address, where its type is not looked at;
// empty: no schema can judge it.
func (c *Contract) kind(f *findings, op, content place, body []byte) string {
	switch {
	case content.its[documents] == nil, len(content.its) > 1 && !json.Valid(body):
		return ""
	case len(body) == 0:
		if at(op.its, "requestBody", "required") == true {
			f.add("a request without its body was taken")
		}
		return ""
	}
	return documents
}

// documents is the type of most bodies.
const documents = "application/json"

// withoutRefused is a batch of reports without those that were not taken, which is told
// in their results and not by the status; nil: none is left.
func withoutRefused(body, answer []byte) []byte {
	var batch struct {
		Changes []json.RawMessage `json:"changes"`
	}
	var told struct {
		Results []struct {
			Error string `json:"error"`
		} `json:"results"`
	}
	if json.Unmarshal(body, &batch) != nil || json.Unmarshal(answer, &told) != nil || len(batch.Changes) != len(told.Results) {
		return body
	}
	left := batch.Changes[:0]
	for i, change := range batch.Changes {
		if told.Results[i].Error == "" {
			left = append(left, change)
		}
	}
	if len(left) == 0 {
		return nil
	}
	text, _ := json.Marshal(map[string]any{"changes": left})
	return text
}

// parameters judges the headers of a request.
func (c *Contract) parameters(f *findings, op place, got http.Header) {
	list, _ := op.its["parameters"].([]any)
	for _, one := range list {
		parameter, _ := one.(object)
		p := place{"", parameter}
		if ref, ok := parameter["$ref"].(string); ok {
			p = c.referred(ref)
		}
		name, _ := p.its["name"].(string)
		if p.its["in"] != "header" {
			continue
		}
		if key := got.Get(name); name == "Idempotency-Key" && len(key) > 2 && key[0] == '"' && key[len(key)-1] == '"' {
			got = got.Clone()
			got.Set(name, key[1:len(key)-1]) // quotes are not part of it
		}
		c.header(f, name, p, got)
	}
}

// unform is a form as an object of strings.
func unform(body []byte) []byte {
	values, _ := url.ParseQuery(string(body))
	flat := map[string]string{}
	for name := range values {
		flat[name] = values.Get(name)
	}
	text, _ := json.Marshal(flat)
	return text
}

// spoken is a body without the members that say nothing: null, or blank.
func spoken(body []byte) []byte {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return body
	}
	text, err := json.Marshal(withoutBlanks(value))
	if err != nil {
		return body
	}
	return text
}

func withoutBlanks(value any) any {
	switch v := value.(type) {
	case object:
		for name, inner := range v {
			if text, ok := inner.(string); inner == nil || ok && strings.TrimSpace(text) == "" {
				delete(v, name)
			} else {
				v[name] = withoutBlanks(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutBlanks(v[i])
		}
	}
	return value
}
