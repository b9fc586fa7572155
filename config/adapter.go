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

// requestAndAnswerFormat describes how to write pings or posts to one buyer and how to read the
// answers. The zero value means the exchange's own API (the contract).
type requestAndAnswerFormat struct {
	protocol *market.AdapterProtocol
	adapter  market.BodyTemplate // nil: the contract's body, or a template with mistakes
}

// pingAndPostFormats are the formats of the pings and of the posts to one buyer.
type pingAndPostFormats struct{ ping, post requestAndAnswerFormat }

// compileAdapter checks a buyer's adapter, reports its mistakes, and returns the formats of
// pings and posts. Without an adapter both are those of the contract.
func (c *compiler) compileAdapter(at syntax.KeyPath, b *schema.Buyer, owner secretOwner) (formats pingAndPostFormats) {
	switch {
	case b.Adapter == nil:
		return formats
	case b.Adapter.Ping == nil && b.Adapter.Post == nil:
		c.reportMistake(at, "is empty; give ping, post or both")
		return formats
	}
	if found, _ := c.source.findNode(at); found.HasVariables() {
		c.reportMistake(at, "cannot use variables, because logs and pages show its text; put secrets under auth or secrets")
		return formats
	}
	for _, one := range [...]struct {
		key      string
		protocol *schema.AdapterRequest
		address  schema.OutboundURL
		into     *requestAndAnswerFormat
		compile  func(format, template string, secrets map[string]string) (*adapter.Template, []market.TemplateError)
	}{
		{"ping", b.Adapter.Ping, b.PingURL, &formats.ping, adapter.NewPingTemplate},
		{"post", b.Adapter.Post, b.PostURL, &formats.post, adapter.NewPostTemplate},
	} {
		if one.protocol == nil {
			continue
		}
		here := at.Key(one.key)
		if one.address == "" {
			c.reportMistake(here, "has no address; give "+one.key+"_url (endpoint is only for buyers that use the contract)")
		}
		protocol := c.compileMethodHeadersAndAnswer(here, one.protocol, one.key == "ping", b.Auth, owner)
		template, mistakes := one.compile(one.protocol.Format, one.protocol.Body, owner.secrets)
		if _, known := contentTypes[one.protocol.Format]; known { // otherwise compileMethodHeadersAndAnswer has reported it
			c.reportTemplateMistakes(here.Key("body"), "", mistakes)
		}
		protocol.Idempotent = b.Adapter.Idempotent
		one.into.protocol = protocol
		if template != nil { // an interface that holds a nil pointer is not nil
			one.into.adapter = template
		}
	}
	return formats
}

// compileMethodHeadersAndAnswer checks and compiles a request format of an adapter (method, headers,
// answer), except the body's template. isPing is false for posts.
func (c *compiler) compileMethodHeadersAndAnswer(at syntax.KeyPath, d *schema.AdapterRequest, isPing bool, auth *schema.BuyerAuth, owner secretOwner) *market.AdapterProtocol {
	switch {
	case isPing && d.Method == http.MethodGet:
		if d.Format != market.FormatForm {
			c.reportMistake(at.Key("method"), "GET sends the body as the query of the address, which works only for a form; use POST, or format: form")
		}
	case isPing:
		c.checkOneOf(at.Key("method"), d.Method, http.MethodPost, http.MethodPut, http.MethodGet)
	case d.Method == http.MethodGet:
		c.reportMistake(at.Key("method"), "GET would put personal data into the address, and so into logs on the way; use POST or PUT")
	default:
		c.checkOneOf(at.Key("method"), d.Method, http.MethodPost, http.MethodPut)
	}
	known := c.checkBodyFormat(at.Key("format"), d.Format)
	kind := d.ContentType
	if kind == "" {
		kind = contentTypes[d.Format]
	} else {
		c.checkContentType(at.Key("content_type"), kind)
	}
	out := &market.AdapterProtocol{
		Method: d.Method, ContentType: kind,
		Headers:   c.compileFixedHeaders(at, d, auth, owner),
		KeyHeader: d.KeyHeader,
	}
	if known || d.Answer.Format != d.Format {
		out.Answer = c.compileAnswerRules(at.Key("answer"), &d.Answer, isPing)
	}
	return out
}

func (c *compiler) checkBodyFormat(at syntax.KeyPath, name string) (isKnown bool) {
	return c.checkOneOf(at, name, market.FormatJSON, market.FormatForm, market.FormatXML)
}

func (c *compiler) checkContentType(at syntax.KeyPath, text string) {
	kind, parameters, err := mime.ParseMediaType(text)
	switch charset := parameters["charset"]; {
	case err != nil || !strings.Contains(kind, "/") || len(text) > maxID*2 || strings.ContainsFunc(text, isNotPrintableASCII):
		c.reportMistake(at, "is not a content type; write for example application/json")
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		c.reportMistake(at, "names another character set than UTF-8; write charset=utf-8, or omit it")
	}
}

// secretHeaders carry credentials. The document must not contain these in plain text.
var secretHeaders = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// compileFixedHeaders checks the fixed headers of an adapter's requests, and the name of the header
// for the idempotency key. It returns the fixed headers as lines of text.
func (c *compiler) compileFixedHeaders(at syntax.KeyPath, d *schema.AdapterRequest, auth *schema.BuyerAuth, owner secretOwner) (headerLines string) {
	var lines strings.Builder
	taken := map[string]string{"authorization": "the credential"}
	if auth != nil && auth.Header != "" {
		taken[strings.ToLower(auth.Header)] = "the credential"
	}
	if len(d.Headers) > maxHeaders {
		c.reportMistake(at.Key("headers"), "are more than 16; an adapter cannot send more")
	}
	for i, h := range d.Headers {
		here := at.Key("headers").Index(i)
		name := strings.ToLower(h.Name)
		switch c.checkHeaderName(here.Key("name"), h.Name); {
		case secretHeaders[name]:
			c.reportMistake(here.Key("name"), "is for credentials; give them under auth")
		case taken[name] != "":
			c.reportMistake(here.Key("name"), "carries "+taken[name]+" already; keep one")
		}
		taken[name] = "another value"
		if h.Value == "" || len(h.Value) > maxHeaderValue || strings.ContainsFunc(h.Value, isNotPrintableASCII) || strings.TrimSpace(h.Value) != h.Value {
			c.reportMistake(here.Key("value"), "is not a header's value; give one line of printable ASCII")
		}
		lines.WriteString(h.Name + ": " + c.replaceSecretCallsByPlaceholders(here.Key("value"), h.Value, escape.None, owner) + "\n")
	}
	if d.KeyHeader != "" {
		name := strings.ToLower(d.KeyHeader)
		if name != "idempotency-key" {
			c.checkHeaderName(at.Key("key_header"), d.KeyHeader)
		}
		if taken[name] != "" {
			c.reportMistake(at.Key("key_header"), "carries "+taken[name]+" already; use another header")
		}
	}
	return lines.String()
}

// reportTemplateMistakes reports the mistakes of an adapter's template. If the document
// writes the template as a block of lines, each mistake gets its own line number. campaignID is
// the campaign against whose fields the template was checked, or "" for mistakes that every
// campaign would have.
func (c *compiler) reportTemplateMistakes(at syntax.KeyPath, campaignID string, mistakes []market.TemplateError) {
	for _, mistake := range mistakes {
		found, _ := c.source.findNode(at)
		message := "line " + strconv.Itoa(mistake.Line) + ": " + mistake.Message
		if campaignID != "" {
			message = "in campaign " + quoteShortened(campaignID) + ": " + message
		}
		problem := syntax.Problem{File: c.source.Path, Line: found.Line, Column: found.Column, Path: string(at), Message: message}
		if found.Block {
			problem.Line, problem.Column = found.Line+mistake.Line, 1
		}
		c.problems = append(c.problems, problem)
	}
}
