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

// checkRequest checks a request that was answered with success.
func (c *Contract) checkRequest(f *mismatches, op documentPart, request *Request, answer *Answer) {
	c.checkRequestHeaders(f, op, request.Header)
	content, ok := c.resolve(op, "requestBody", "content")
	if !ok {
		return
	}
	kind, _, _ := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if c.admin {
		if kind = c.adminBodyType(f, op, content, request.Body); kind == "" {
			return
		}
	}
	schema, ok := c.resolve(content, kind, "schema")
	if !ok {
		f.add("the server accepted a body of the undocumented type %q", kind)
		return
	}
	body := request.Body
	if kind == "application/x-www-form-urlencoded" {
		body = formToJSON(body)
	}
	body = removeBlanksFromBody(body)
	if op.value["operationId"] == "reportStatuses" {
		if body = removeRejectedReports(body, answer.Body); body == nil {
			return
		}
	}
	f.checkValue("the request", c, schema, c.openCompiler, body)
}

// adminBodyType returns the body's media type at the admin address, which ignores Content-Type. It
// returns "" if no schema applies.
func (c *Contract) adminBodyType(f *mismatches, op, content documentPart, body []byte) string {
	switch {
	case content.value[jsonType] == nil, len(content.value) > 1 && !json.Valid(body):
		return ""
	case len(body) == 0:
		if at(op.value, "requestBody", "required") == true {
			f.add("the server accepted a request without its required body")
		}
		return ""
	}
	return jsonType
}

// jsonType is the media type of most bodies.
const jsonType = "application/json"

// removeRejectedReports returns the batch of status reports without those that its results reject, or
// nil if all are rejected. The status of a batch is 200 in either case.
func removeRejectedReports(body, answer []byte) []byte {
	var batch struct {
		Changes []json.RawMessage `json:"changes"`
	}
	var decoded struct {
		Results []struct {
			Error string `json:"error"`
		} `json:"results"`
	}
	if json.Unmarshal(body, &batch) != nil || json.Unmarshal(answer, &decoded) != nil || len(batch.Changes) != len(decoded.Results) {
		return body
	}
	left := batch.Changes[:0]
	for i, change := range batch.Changes {
		if decoded.Results[i].Error == "" {
			left = append(left, change)
		}
	}
	if len(left) == 0 {
		return nil
	}
	text, _ := json.Marshal(map[string]any{"changes": left})
	return text
}

// checkRequestHeaders checks a request's headers.
func (c *Contract) checkRequestHeaders(f *mismatches, op documentPart, got http.Header) {
	list, _ := op.value["parameters"].([]any)
	for _, one := range list {
		parameter, _ := one.(object)
		p := documentPart{"", parameter}
		if ref, ok := parameter["$ref"].(string); ok {
			p = c.followReference(ref)
		}
		name, _ := p.value["name"].(string)
		if p.value["in"] != "header" {
			continue
		}
		if key := got.Get(name); name == "Idempotency-Key" && len(key) > 2 && key[0] == '"' && key[len(key)-1] == '"' {
			got = got.Clone()
			got.Set(name, key[1:len(key)-1]) // without the quotes
		}
		c.checkHeader(f, name, p, got)
	}
}

// formToJSON returns a form as a JSON object of strings.
func formToJSON(body []byte) []byte {
	values, _ := url.ParseQuery(string(body))
	flat := map[string]string{}
	for name := range values {
		flat[name] = values.Get(name)
	}
	text, _ := json.Marshal(flat)
	return text
}

// removeBlanksFromBody returns the body without null and blank members.
func removeBlanksFromBody(body []byte) []byte {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return body
	}
	text, err := json.Marshal(removeBlankMembers(value))
	if err != nil {
		return body
	}
	return text
}

func removeBlankMembers(value any) any {
	switch v := value.(type) {
	case object:
		for name, inner := range v {
			if text, ok := inner.(string); inner == nil || ok && strings.TrimSpace(text) == "" {
				delete(v, name)
			} else {
				v[name] = removeBlankMembers(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = removeBlankMembers(v[i])
		}
	}
	return value
}
