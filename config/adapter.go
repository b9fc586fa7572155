package config

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/escape"
)

const (
	maxHeaders     = 16
	maxHeaderValue = 1024
)

var contentTypes = map[string]string{
	market.FormatJSON: "application/json",
	market.FormatForm: "application/x-www-form-urlencoded",
	market.FormatXML:  "application/xml; charset=utf-8",
}

// requestFormat is how one kind of request is written, and its answer read; the zero
// one is the contract.
type requestFormat struct {
	dialect *market.Dialect
	adapter market.BodyTemplate // nil: the contract, or a template with mistakes
}

// buyerFormats is how a buyer is spoken to.
type buyerFormats struct{ ping, post requestFormat }

// compileAdapter judges a buyer's adapter and builds it.
func (c *compiler) compileAdapter(at syntax.Path, b *schema.Buyer, of secretOwner) (how buyerFormats) {
	switch {
	case b.Adapter == nil:
		return how
	case b.Adapter.Ping == nil && b.Adapter.Post == nil:
		c.report(at, "says nothing; give ping, post or both")
		return how
	}
	if found, _ := c.source.find(at); found.HasVariables() {
		c.report(at, "takes nothing from the environment, since what it says is logged and shown; secrets stand under auth or secrets")
		return how
	}
	for _, one := range [...]struct {
		key     string
		dialect *schema.Dialect
		address schema.Address
		into    *requestFormat
		compile func(format, template string, secrets map[string]string) (*adapter.Template, []market.TemplateError)
	}{
		{"ping", b.Adapter.Ping, b.PingURL, &how.ping, adapter.NewPing},
		{"post", b.Adapter.Post, b.PostURL, &how.post, adapter.NewPost},
	} {
		if one.dialect == nil {
			continue
		}
		here := at.Key(one.key)
		if one.address == "" {
			c.report(here, "has no address; give "+one.key+"_url (an endpoint's addresses are those of the contract)")
		}
		dialect := c.compileDialect(here, one.dialect, one.key == "ping", b.Auth, of)
		template, mistakes := one.compile(one.dialect.Format, one.dialect.Body, of.secrets)
		if _, known := contentTypes[one.dialect.Format]; known { // else reported already
			c.reportTemplate(here.Key("body"), "", mistakes)
		}
		dialect.Idempotent = b.Adapter.Idempotent
		one.into.dialect = dialect
		if template != nil { // a nil pointer in the interface would not be nil
			one.into.adapter = template
		}
	}
	return how
}

// compileDialect judges all but the template.
func (c *compiler) compileDialect(at syntax.Path, d *schema.Dialect, ping bool, auth *schema.Auth, of secretOwner) *market.Dialect {
	switch {
	case ping && d.Method == http.MethodGet:
		if d.Format != market.FormatForm {
			c.report(at.Key("method"), "GET carries its body as the address's query, and only a form can stand there; use POST, or format: form")
		}
	case ping:
		c.checkOneOf(at.Key("method"), d.Method, http.MethodPost, http.MethodPut, http.MethodGet)
	case d.Method == http.MethodGet:
		c.report(at.Key("method"), "GET would write the person into an address, and so into logs on the way; use POST or PUT")
	default:
		c.checkOneOf(at.Key("method"), d.Method, http.MethodPost, http.MethodPut)
	}
	known := c.checkFormat(at.Key("format"), d.Format)
	kind := d.ContentType
	if kind == "" {
		kind = contentTypes[d.Format]
	} else {
		c.checkContentType(at.Key("content_type"), kind)
	}
	out := &market.Dialect{
		Method: d.Method, ContentType: kind,
		Headers:   c.headerLines(at, d, auth, of),
		KeyHeader: d.KeyHeader,
	}
	if known || d.Answer.Format != d.Format {
		out.Answer = c.compileAnswer(at.Key("answer"), &d.Answer, ping)
	}
	return out
}

func (c *compiler) checkFormat(at syntax.Path, name string) bool {
	return c.checkOneOf(at, name, market.FormatJSON, market.FormatForm, market.FormatXML)
}

func (c *compiler) checkContentType(at syntax.Path, text string) {
	kind, parameters, err := mime.ParseMediaType(text)
	switch charset := parameters["charset"]; {
	case err != nil || !strings.Contains(kind, "/") || len(text) > maxID*2 || strings.ContainsFunc(text, isOutsideLine):
		c.report(at, "is not a content type; write such as application/json")
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		c.report(at, "names another character set than the body has; say charset=utf-8, or nothing")
	}
}

// secretHeaders carry credentials, which do not stand in the clear.
var secretHeaders = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// headerLines judges the fixed headers and writes them as lines.
func (c *compiler) headerLines(at syntax.Path, d *schema.Dialect, auth *schema.Auth, of secretOwner) string {
	var lines strings.Builder
	taken := map[string]string{"authorization": "the credential"}
	if auth != nil && auth.Header != "" {
		taken[strings.ToLower(auth.Header)] = "the credential"
	}
	if len(d.Headers) > maxHeaders {
		c.report(at.Key("headers"), "are over 16; an endpoint that needs more is not one that an adapter is for")
	}
	for i, h := range d.Headers {
		here := at.Key("headers").Index(i)
		name := strings.ToLower(h.Name)
		switch c.checkHeaderName(here.Key("name"), h.Name); {
		case secretHeaders[name]:
			c.report(here.Key("name"), "is for credentials, which are given under auth")
		case taken[name] != "":
			c.report(here.Key("name"), "carries "+taken[name]+" already; keep one")
		}
		taken[name] = "another value"
		if h.Value == "" || len(h.Value) > maxHeaderValue || strings.ContainsFunc(h.Value, isOutsideLine) || strings.TrimSpace(h.Value) != h.Value {
			c.report(here.Key("value"), "is not a header's value; give one line of printable ASCII")
		}
		lines.WriteString(h.Name + ": " + c.insertPlaceholders(here.Key("value"), h.Value, escape.None, of) + "\n")
	}
	if d.KeyHeader != "" {
		name := strings.ToLower(d.KeyHeader)
		if name != "idempotency-key" {
			c.checkHeaderName(at.Key("key_header"), d.KeyHeader)
		}
		if taken[name] != "" {
			c.report(at.Key("key_header"), "carries "+taken[name]+" already; use another header")
		}
	}
	return lines.String()
}

// reportTemplate reports what is wrong with a template, each mistake at its own line
// where the document shows the template line by line.
func (c *compiler) reportTemplate(at syntax.Path, campaign string, mistakes []market.TemplateError) {
	for _, mistake := range mistakes {
		found, _ := c.source.find(at)
		message := "line " + strconv.Itoa(mistake.Line) + ": " + mistake.Message
		if campaign != "" {
			message = "in campaign " + quote(campaign) + ": " + message
		}
		problem := syntax.Problem{File: c.source.Path, Line: found.Line, Column: found.Column, Path: string(at), Message: message}
		if found.Block {
			problem.Line, problem.Column = found.Line+mistake.Line, 1
		}
		c.problems = append(c.problems, problem)
	}
}
