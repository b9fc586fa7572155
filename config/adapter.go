package config

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/escape"
)

// Adapter is how a buyer is spoken to whose endpoints do not speak the contract:
// pings, posts, or both. What is absent is spoken by the contract.
type Adapter struct {
	Idempotent bool     `json:"idempotent,omitempty"` // the buyer certifies that it answers a repeat as it answered the first post
	Ping       *Dialect `json:"ping,omitempty"`
	Post       *Dialect `json:"post,omitempty"`
}

// Dialect is one kind of request to such a buyer, and its answer.
type Dialect struct {
	Method      string   `json:"method"`
	Format      string   `json:"format"`                 // of the body: json, form or xml
	ContentType string   `json:"content_type,omitempty"` // absent: the format's
	Headers     []Header `json:"headers,omitempty"`
	KeyHeader   string   `json:"key_header,omitempty"` // carries the idempotency key; absent: nothing does
	Body        string   `json:"body"`                 // a template
	Answer      Answer   `json:"answer"`
}

// Header is a fixed one.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const (
	maxHeaders     = 16
	maxHeaderValue = 1024
)

func (a *Adapter) fill() {
	if a == nil {
		return
	}
	for _, d := range [...]*Dialect{a.Ping, a.Post} {
		if d != nil {
			orElse(&d.Method, http.MethodPost)
			orElse(&d.Answer.Format, d.Format)
		}
	}
}

var contentTypes = map[string]string{
	market.FormatJSON: "application/json",
	market.FormatForm: "application/x-www-form-urlencoded",
	market.FormatXML:  "application/xml; charset=utf-8",
}

// spokenTo is how one kind of request is written, and its answer read; the zero
// one is the contract.
type spokenTo struct {
	dialect *market.Dialect
	adapter market.BodyTemplate // nil: the contract, or a template with mistakes
}

// spoken is how a buyer is spoken to.
type spoken struct{ ping, post spokenTo }

// adapter judges a buyer's adapter and builds it.
func (c *compiler) adapter(at place, b *Buyer, of owner) (how spoken) {
	switch {
	case b.Adapter == nil:
		return how
	case b.Adapter.Ping == nil && b.Adapter.Post == nil:
		c.fail(at, "says nothing; give ping, post or both")
		return how
	}
	if found, _ := c.source.find(at); found.holdsExpanded() {
		c.fail(at, "takes nothing from the environment, since what it says is logged and shown; secrets stand under auth or secrets")
		return how
	}
	for _, one := range [...]struct {
		key     string
		dialect *Dialect
		address Address
		into    *spokenTo
		compile func(format, template string, secrets map[string]string) (*adapter.Template, []market.TemplateError)
	}{
		{"ping", b.Adapter.Ping, b.PingURL, &how.ping, adapter.NewPing},
		{"post", b.Adapter.Post, b.PostURL, &how.post, adapter.NewPost},
	} {
		if one.dialect == nil {
			continue
		}
		here := at.key(one.key)
		if one.address == "" {
			c.fail(here, "has no address; give "+one.key+"_url (an endpoint's addresses are those of the contract)")
		}
		dialect := c.dialect(here, one.dialect, one.key == "ping", b.Auth, of)
		template, mistakes := one.compile(one.dialect.Format, one.dialect.Body, of.names)
		if _, known := contentTypes[one.dialect.Format]; known { // else reported already
			c.template(here.key("body"), "", mistakes)
		}
		dialect.Idempotent = b.Adapter.Idempotent
		one.into.dialect = dialect
		if template != nil { // a nil pointer in the interface would not be nil
			one.into.adapter = template
		}
	}
	return how
}

// dialect judges all but the template.
func (c *compiler) dialect(at place, d *Dialect, ping bool, auth *Auth, of owner) *market.Dialect {
	switch {
	case ping && d.Method == http.MethodGet:
		if d.Format != market.FormatForm {
			c.fail(at.key("method"), "GET carries its body as the address's query, and only a form can stand there; use POST, or format: form")
		}
	case ping:
		c.oneOf(at.key("method"), d.Method, http.MethodPost, http.MethodPut, http.MethodGet)
	case d.Method == http.MethodGet:
		c.fail(at.key("method"), "GET would write the person into an address, and so into logs on the way; use POST or PUT")
	default:
		c.oneOf(at.key("method"), d.Method, http.MethodPost, http.MethodPut)
	}
	known := c.format(at.key("format"), d.Format)
	kind := d.ContentType
	if kind == "" {
		kind = contentTypes[d.Format]
	} else {
		c.contentType(at.key("content_type"), kind)
	}
	out := &market.Dialect{
		Method: d.Method, ContentType: kind,
		Headers:   c.headers(at, d, auth, of),
		KeyHeader: d.KeyHeader,
	}
	if known || d.Answer.Format != d.Format {
		out.Reading = c.answer(at.key("answer"), &d.Answer, ping)
	}
	return out
}

func (c *compiler) format(at place, name string) bool {
	return c.oneOf(at, name, market.FormatJSON, market.FormatForm, market.FormatXML)
}

func (c *compiler) contentType(at place, text string) {
	kind, parameters, err := mime.ParseMediaType(text)
	switch charset := parameters["charset"]; {
	case err != nil || !strings.Contains(kind, "/") || len(text) > maxID*2 || strings.ContainsFunc(text, notInLine):
		c.fail(at, "is not a content type; write such as application/json")
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		c.fail(at, "names another character set than the body has; say charset=utf-8, or nothing")
	}
}

// secretHeaders carry credentials, which do not stand in the clear.
var secretHeaders = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// headers judges the fixed headers and writes them as lines.
func (c *compiler) headers(at place, d *Dialect, auth *Auth, of owner) string {
	var lines strings.Builder
	taken := map[string]string{"authorization": "the credential"}
	if auth != nil && auth.Header != "" {
		taken[strings.ToLower(auth.Header)] = "the credential"
	}
	if len(d.Headers) > maxHeaders {
		c.fail(at.key("headers"), "are over 16; an endpoint that needs more is not one that an adapter is for")
	}
	for i, h := range d.Headers {
		here := at.key("headers").at(i)
		name := strings.ToLower(h.Name)
		switch c.header(here.key("name"), h.Name); {
		case secretHeaders[name]:
			c.fail(here.key("name"), "is for credentials, which are given under auth")
		case taken[name] != "":
			c.fail(here.key("name"), "carries "+taken[name]+" already; keep one")
		}
		taken[name] = "another value"
		if h.Value == "" || len(h.Value) > maxHeaderValue || strings.ContainsFunc(h.Value, notInLine) || strings.TrimSpace(h.Value) != h.Value {
			c.fail(here.key("value"), "is not a header's value; give one line of printable ASCII")
		}
		lines.WriteString(h.Name + ": " + c.placeholders(here.key("value"), h.Value, escape.None, of) + "\n")
	}
	if d.KeyHeader != "" {
		name := strings.ToLower(d.KeyHeader)
		if name != "idempotency-key" {
			c.header(at.key("key_header"), d.KeyHeader)
		}
		if taken[name] != "" {
			c.fail(at.key("key_header"), "carries "+taken[name]+" already; use another header")
		}
	}
	return lines.String()
}

// template reports what is wrong with a template, each mistake at its own line
// where the document shows the template line by line.
func (c *compiler) template(at place, campaign string, mistakes []market.TemplateError) {
	for _, mistake := range mistakes {
		found, _ := c.source.find(at)
		message := "line " + strconv.Itoa(mistake.Line) + ": " + mistake.Message
		if campaign != "" {
			message = "in campaign " + quote(campaign) + ": " + message
		}
		problem := Problem{File: c.source.Path, Line: found.line, Column: found.column, Path: string(at), Message: message}
		if found.block {
			problem.Line, problem.Column = found.line+mistake.Line, 1
		}
		c.problems = append(c.problems, problem)
	}
}
