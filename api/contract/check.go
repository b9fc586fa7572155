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

// Request is a request as sent. Its path has no query.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Answer is an answer as received.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// CheckTraffic checks an answer against the document, and after success the request too. The error
// lists all findings.
func (c *Contract) CheckTraffic(request *Request, answer *Answer) error {
	f := &mismatches{admin: c.admin}
	op, methods, known := c.findOperation(request.Method, request.Path)
	if path, slash := strings.CutSuffix(request.Path, "/"); slash && !known && answer.Status != http.StatusNotFound {
		op, methods, known = c.findOperation(request.Method, path) // which documents the redirect to it
	}
	switch {
	case c.admin && isMisdirected(request, answer):
		f.checkUndocumented(answer, http.StatusNotFound, errcode.NotFound)
	case op.value == nil && request.Method == http.MethodHead: // a HEAD answer has no body and so no code
		if answer.Status < http.StatusBadRequest || answer.Status != http.StatusNotFound && answer.Status != http.StatusMethodNotAllowed && !c.admin {
			f.add("the document has no such operation")
		}
	case !known, op.value == nil && answer.Status == http.StatusNotFound && c.hasDocumented404(request.Path, methods):
		f.checkUndocumented(answer, http.StatusNotFound, errcode.NotFound)
	case op.value == nil:
		f.checkUndocumented(answer, http.StatusMethodNotAllowed, errcode.MethodNotAllowed)
		if allow := answer.Header.Get("Allow"); answer.Status == http.StatusMethodNotAllowed && !slices.Contains(methods, strings.Split(allow, ", ")[0]) {
			f.add("Allow is %q, but the document has %v", allow, methods)
		}
	default:
		c.checkAnswer(f, op, request, answer)
		if answer.Status < 300 {
			c.checkRequest(f, op, request, answer)
		}
	}
	return f.err(fmt.Sprintf("%s %s, answered %d", request.Method, request.Path, answer.Status))
}

// isMisdirected reports whether a request for the admin API reached a public address. That
// address has no such path, and answers 404 without authentication.
func isMisdirected(request *Request, answer *Answer) bool {
	return answer.Status == http.StatusNotFound && request.Method != http.MethodHead && request.Header.Get("Authorization") == "" && request.Header.Get("Cookie") == ""
}

// hasDocumented404 reports whether an operation of the path documents 404. Some exchanges do not
// serve such a path, so a 404 is right there.
func (c *Contract) hasDocumented404(path string, methods []string) bool {
	for _, method := range methods {
		op, _, _ := c.findOperation(method, path)
		if at(op.value, "responses", "404") != nil {
			return true
		}
	}
	return false
}

// CheckWebhookRequest checks a request that the exchange sends, against a webhook of the document
// such as lead.posted or buyer.ping.
func (c *Contract) CheckWebhookRequest(webhook string, request *Request) error {
	f := &mismatches{}
	op, ok := c.resolve(documentPart{"", c.root}, "webhooks", webhook, "post")
	if !ok {
		f.add("the document has no such webhook")
	} else {
		c.checkRequestHeaders(f, op, request.Header)
		if schema, ok := c.resolve(op, "requestBody", "content", "application/json", "schema"); ok {
			f.checkValue("the body", c, schema, c.closedCompiler, request.Body)
		}
	}
	return f.err("sent as " + webhook)
}

// decodedBody returns the body, uncompressed if it is gzip.
func (answer *Answer) decodedBody() []byte {
	if answer.Header.Get("Content-Encoding") != "gzip" {
		return answer.Body
	}
	packed, err := gzip.NewReader(bytes.NewReader(answer.Body))
	if err != nil {
		return answer.Body
	}
	body, err := io.ReadAll(packed)
	if err != nil {
		return answer.Body
	}
	return body
}

// mismatches are the faults of one request and its answer.
type mismatches struct {
	all   []string
	admin bool // of the admin address
}

func (f *mismatches) add(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func (f *mismatches) err(what string) error {
	if len(f.all) == 0 {
		return nil
	}
	return errors.New("traffic differs from the OpenAPI document: " + what + ":\n\t" + strings.Join(f.all, "\n\t"))
}

// checkUndocumented checks the answer if the document has no operation for the request. Only the
// given error is allowed, or one that the server sends before it looks at the path.
func (f *mismatches) checkUndocumented(answer *Answer, status int, code string) {
	said := f.decodeErrorCode(answer)
	if answer.Status == status && said == code {
		return
	}
	switch said {
	case errcode.MalformedRequest, errcode.RequestTimeout, errcode.HeaderTooLarge, errcode.HTTPVersionNotSupported,
		errcode.Internal, errcode.Unavailable:
	case errcode.Unauthorized, errcode.Forbidden, errcode.RateLimited, errcode.MalformedJSON:
		// The admin address authenticates before it reveals its paths, and reads the body
		// before it parses a path of several parts.
		if !f.admin {
			f.add("the document has no such operation, but the answer is %d %q", answer.Status, said)
		}
	default:
		f.add("the document has no such operation, but the answer is %d %q", answer.Status, said)
	}
}

// decodeErrorCode decodes an error body and checks that it agrees with its answer.
func (f *mismatches) decodeErrorCode(answer *Answer) (code string) {
	var body struct {
		Error     string `json:"error"`
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		f.add("cannot decode the error's body: %v", err)
	}
	known, ok := errcode.Of(body.Error)
	if !ok || known.Status != answer.Status || f.admin && !known.Admin || !f.admin && !known.Public {
		f.add("api/errors.yaml has no error %d %q for this address", answer.Status, body.Error)
	}
	if id := answer.Header.Get("X-Request-Id"); id != body.RequestID {
		f.add("X-Request-Id is %q, but request_id is %q", id, body.RequestID)
	}
	return body.Error
}

// checkAnswer checks an answer to an operation.
func (c *Contract) checkAnswer(f *mismatches, op documentPart, request *Request, answer *Answer) {
	response, ok := c.resolve(op, "responses", fmt.Sprint(answer.Status))
	if !ok {
		f.add("the status is not documented")
		return
	}
	c.checkAnswerHeaders(f, response, answer.Header)
	content, _ := response.value["content"].(object)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case request.Method == http.MethodHead:
		return
	case len(content) == 0:
		if len(answer.Body) > 0 {
			f.add("the answer has a body, but the document has none")
		}
		return
	case content[kind] == nil:
		f.add("Content-Type %q is not documented", kind)
		return
	}
	if kind != "application/json" {
		return
	}
	media, _ := c.resolve(response, "content", kind)
	if schema, ok := c.resolve(media, "schema"); ok {
		f.checkValue("the body", c, schema, c.closedCompiler, answer.decodedBody())
	}
	if answer.Status >= 400 {
		code := f.decodeErrorCode(answer)
		if !c.hasExample(media, code) {
			f.add("no example of this response has the error %q", code)
		}
	}
}

// hasExample reports whether an example of the response has the error code.
func (c *Contract) hasExample(media documentPart, code string) bool {
	examples, _ := media.value["examples"].(object)
	for name := range examples {
		example, _ := c.resolve(media, "examples", name)
		if at(example.value, "value", "error") == code {
			return true
		}
	}
	return false
}

// transportHeaders belong to HTTP, not to the interface.
var transportHeaders = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Server",
	"Transfer-Encoding", "Vary",
}

func (c *Contract) checkAnswerHeaders(f *mismatches, response documentPart, got http.Header) {
	documented, _ := response.value["headers"].(object)
	names := map[string]bool{}
	for name := range documented {
		names[http.CanonicalHeaderKey(name)] = true
		header, _ := c.resolve(response, "headers", name)
		c.checkHeader(f, name, header, got)
	}
	for name := range got {
		if !names[name] && !slices.Contains(transportHeaders, name) {
			f.add("the header %s is not documented", name)
		}
	}
}

// checkHeader checks a header against its schema.
func (c *Contract) checkHeader(f *mismatches, name string, documented documentPart, got http.Header) {
	lines := got.Values(name)
	switch {
	case len(lines) == 0:
		if documented.value["required"] == true {
			f.add("the header %s is missing", name)
		}
		return
	case len(lines) > 1 && name != "Set-Cookie": // each cookie has its own line
		f.add("the header %s occurs %d times", name, len(lines))
	}
	schema, ok := c.resolve(documented, "schema")
	if !ok {
		return
	}
	text := []byte(lines[0])
	if schema.value["type"] != "integer" {
		text, _ = json.Marshal(lines[0])
	}
	f.checkValue("the header "+name, c, schema, c.closedCompiler, text)
}

// checkValue checks JSON against a schema. Findings contain places but no values.
func (f *mismatches) checkValue(what string, c *Contract, at documentPart, compiler *jsonschema.Compiler, text []byte) {
	schema, err := c.compileSchema(at, compiler)
	if err != nil {
		f.add("%s: cannot compile the schema: %v", what, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		f.add("%s is not JSON: %v", what, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		f.add("%s: %s", what, strings.ReplaceAll(err.Error(), "\n", "\n\t"))
	}
}
