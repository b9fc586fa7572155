package contract

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pingpost/api/errcode"
)

// Request is one as it went over the wire. Its path has no query.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Answer is one as it came.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Check holds an answer against the document, and the request too, where it was taken.
// The error names all that is wrong.
func (c *Contract) Check(q *Request, a *Answer) error {
	f := &findings{admin: c.admin}
	op, methods, known := c.operation(q.Method, q.Path)
	switch {
	case c.admin && astray(q, a):
		f.early(a, http.StatusNotFound, errcode.NotFound)
	case op.its == nil && q.Method == http.MethodHead: // without a body there is no code
		if a.Status < http.StatusBadRequest || a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed && !c.admin {
			f.add("the document has no such operation")
		}
	case !known, op.its == nil && a.Status == http.StatusNotFound && c.mayLack(q.Path, methods):
		f.early(a, http.StatusNotFound, errcode.NotFound)
	case op.its == nil:
		f.early(a, http.StatusMethodNotAllowed, errcode.MethodNotAllowed)
		if allow := a.Header.Get("Allow"); a.Status == http.StatusMethodNotAllowed && !slices.Contains(methods, strings.Split(allow, ", ")[0]) {
			f.add("Allow is %q, and the document has %v", allow, methods)
		}
	default:
		c.answer(f, op, q, a)
		if a.Status < 300 {
			c.taken(f, op, q, a)
		}
	}
	return f.of(fmt.Sprintf("%s %s, answered %d", q.Method, q.Path, a.Status))
}

// astray tells whether a request for the admin address came to a public one, which has
// none of its paths: it asks nobody who they are before it says so.
func astray(q *Request, a *Answer) bool {
	return a.Status == http.StatusNotFound && q.Method != http.MethodHead && q.Header.Get("Authorization") == "" && q.Header.Get("Cookie") == ""
}

// mayLack tells whether the path is one that some exchanges do not have.
func (c *Contract) mayLack(path string, methods []string) bool {
	for _, method := range methods {
		op, _, _ := c.operation(method, path)
		if at(op.its, "responses", "404") != nil {
			return true
		}
	}
	return false
}

// CheckSent holds a request of the exchange's own against one of the document's
// webhooks, such as lead.posted or buyer.ping.
func (c *Contract) CheckSent(webhook string, q *Request) error {
	f := &findings{}
	op, ok := c.of(place{"", c.root}, "webhooks", webhook, "post")
	if !ok {
		f.add("the document has no such webhook")
	} else {
		c.parameters(f, op, q.Header)
		if schema, ok := c.of(op, "requestBody", "content", "application/json", "schema"); ok {
			f.value("the body", c, schema, c.closed, q.Body)
		}
	}
	return f.of("sent as " + webhook)
}

// plain is the body as it was before it was packed.
func (a *Answer) plain() []byte {
	if a.Header.Get("Content-Encoding") != "gzip" {
		return a.Body
	}
	packed, err := gzip.NewReader(bytes.NewReader(a.Body))
	if err != nil {
		return a.Body
	}
	body, err := io.ReadAll(packed)
	if err != nil {
		return a.Body
	}
	return body
}

// findings are what is wrong with one exchange.
type findings struct {
	all   []string
	admin bool // it was at the operators' address
}

func (f *findings) add(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func (f *findings) of(what string) error {
	if len(f.all) == 0 {
		return nil
	}
	return errors.New("against the OpenAPI document: " + what + ":\n\t" + strings.Join(f.all, "\n\t"))
}

// early judges an answer where no operation was called: it is this error, or one for
// which the path was not looked at.
func (f *findings) early(a *Answer, status int, code string) {
	said := f.failure(a)
	if a.Status == status && said == code {
		return
	}
	switch said {
	case errcode.MalformedRequest, errcode.RequestTimeout, errcode.HeaderTooLarge, errcode.HTTPVersionNotSupported,
		errcode.Internal, errcode.Unavailable:
	case errcode.Unauthorized, errcode.Forbidden, errcode.RateLimited, errcode.MalformedJSON:
		// There, who is not let in is not told what there is, and a body is read before a
		// name of many parts is looked at.
		if !f.admin {
			f.add("the document has no such operation, and the answer is %d %q", a.Status, said)
		}
	default:
		f.add("the document has no such operation, and the answer is %d %q", a.Status, said)
	}
}

// failure reads an error's body and sees that it agrees with its answer.
func (f *findings) failure(a *Answer) (code string) {
	var body struct {
		Error     string `json:"error"`
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		f.add("the error's body: %v", err)
	}
	known, ok := errcode.Of(body.Error)
	if !ok || known.Status != a.Status || f.admin && !known.Admin || !f.admin && !known.Public {
		f.add("%d %q is none of api/errors.yaml", a.Status, body.Error)
	}
	if id := a.Header.Get("X-Request-Id"); id != body.RequestID {
		f.add("X-Request-Id is %q, and request_id %q", id, body.RequestID)
	}
	return body.Error
}

// answer judges an answer to an operation.
func (c *Contract) answer(f *findings, op place, q *Request, a *Answer) {
	response, ok := c.of(op, "responses", fmt.Sprint(a.Status))
	if !ok {
		f.add("the status is not documented")
		return
	}
	c.headers(f, response, a.Header)
	content, _ := response.its["content"].(object)
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	switch {
	case q.Method == http.MethodHead:
		return
	case len(content) == 0:
		if len(a.Body) > 0 {
			f.add("there is a body, and the document has none")
		}
		return
	case content[kind] == nil:
		f.add("Content-Type %q is not documented", kind)
		return
	}
	if kind != "application/json" {
		return
	}
	media, _ := c.of(response, "content", kind)
	if schema, ok := c.of(media, "schema"); ok {
		f.value("the body", c, schema, c.closed, a.plain())
	}
	if a.Status >= 400 {
		code := f.failure(a)
		if !c.hasExample(media, code) {
			f.add("no example of this response has the error %q", code)
		}
	}
}

// hasExample tells whether one of a response's examples is this error.
func (c *Contract) hasExample(media place, code string) bool {
	examples, _ := media.its["examples"].(object)
	for name := range examples {
		example, _ := c.of(media, "examples", name)
		if at(example.its, "value", "error") == code {
			return true
		}
	}
	return false
}

// plumbing are headers that belong to HTTP and not to the interface.
var plumbing = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Server",
	"Transfer-Encoding", "Vary",
}

func (c *Contract) headers(f *findings, response place, got http.Header) {
	documented, _ := response.its["headers"].(object)
	names := map[string]bool{}
	for name := range documented {
		names[http.CanonicalHeaderKey(name)] = true
		header, _ := c.of(response, "headers", name)
		c.header(f, name, header, got)
	}
	for name := range got {
		if !names[name] && !slices.Contains(plumbing, name) {
			f.add("the header %s is not documented", name)
		}
	}
}

// header judges one header line by its schema.
func (c *Contract) header(f *findings, name string, documented place, got http.Header) {
	lines := got.Values(name)
	switch {
	case len(lines) == 0:
		if documented.its["required"] == true {
			f.add("the header %s is missing", name)
		}
		return
	case len(lines) > 1:
		f.add("the header %s is there %d times", name, len(lines))
	}
	schema, ok := c.of(documented, "schema")
	if !ok {
		return
	}
	text := []byte(lines[0])
	if schema.its["type"] != "integer" {
		text, _ = json.Marshal(lines[0])
	}
	f.value("the header "+name, c, schema, c.closed, text)
}

// value judges JSON by a schema. What is found names places, and no values.
func (f *findings) value(what string, c *Contract, at place, compiler *jsonschema.Compiler, text []byte) {
	schema, err := c.schema(at, compiler)
	if err != nil {
		f.add("%s: the schema: %v", what, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		f.add("%s is no JSON: %v", what, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		f.add("%s: %s", what, strings.ReplaceAll(err.Error(), "\n", "\n\t"))
	}
}
