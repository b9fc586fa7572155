package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

const (
	maxTemplate = 16 << 10 // bytes
	maxPieces   = 2000     // pieces, and values in them, of one template

	wholeTemplate = "\x00" // its name to the parser: one that no {{define}} has by chance
)

// NewPingAdapter compiles the template of pings in a format. It reports every
// mistake that can be told without a campaign; with any, there is no adapter.
// Whether the fields exist, and whether bodies come out well formed, Check tells
// for each campaign.
//
// The map has the full names of the secrets by the names that templates use.
func NewPing(format, template string, secrets map[string]string) (*Template, []market.TemplateError) {
	return newTemplate(forPing, format, template, secrets)
}

// NewPostAdapter compiles the template of posts, as NewPingAdapter does that of
// pings.
func NewPost(format, template string, secrets map[string]string) (*Template, []market.TemplateError) {
	return newTemplate(forPost, format, template, secrets)
}

func newTemplate(of purpose, format, template string, secrets map[string]string) (*Template, []market.TemplateError) {
	start, ok := contextOf(format)
	if !ok {
		return nil, []market.TemplateError{{Line: 1, Message: "a body is json, form or xml"}}
	}
	template = strings.TrimRight(template, " \t\r\n")
	switch {
	case template == "":
		return nil, []market.TemplateError{{Line: 1, Message: "the template is empty"}}
	case len(template) > maxTemplate:
		return nil, []market.TemplateError{{Line: 1, Message: fmt.Sprintf("the template is over %d bytes", maxTemplate)}}
	case !utf8.ValidString(template):
		return nil, []market.TemplateError{{Line: 1, Message: "the template is not UTF-8"}}
	case escape.HasPlaceholder(template):
		return nil, []market.TemplateError{{Line: 1, Message: "the template holds the control character U+001A; remove it"}}
	}
	trees, err := parse.Parse(wholeTemplate, template, "{{", "}}", templateWords())
	if err != nil {
		return nil, []market.TemplateError{parseError(err)}
	}
	c := templateCompiler{text: template, secrets: secrets, adapter: &Template{purpose: of, format: format}, context: start}
	if len(trees) != 1 {
		c.failAt(0, "templates inside templates are not supported; write the text where it belongs")
		return nil, c.mistakes
	}
	c.adapter.pieces = c.list(trees[wholeTemplate].Root)
	if len(c.mistakes) == 0 && !c.context.canEnd() {
		c.failAt(parse.Pos(len(template)), "the body ends inside a text, a tag or a comment; close it")
	}
	if len(c.mistakes) > 0 {
		slices.SortStableFunc(c.mistakes, func(a, b market.TemplateError) int { return cmp.Compare(a.Line, b.Line) })
		return nil, c.mistakes
	}
	return c.adapter, nil
}

// templateWords are the identifiers that the parser accepts.
func templateWords() map[string]any {
	known := make(map[string]any, len(functions)+len(headerWords)+2)
	for name := range functions {
		known[name] = true
	}
	for name := range headerWords {
		known[name] = true
	}
	known["field"], known[secretWord] = true, true
	return known
}

var parseErrorForm = regexp.MustCompile(`^template: ` + wholeTemplate + `:(\d+):(?:\d+:)? (.*)`)

// parseError takes the line out of what the parser says.
func parseError(err error) market.TemplateError {
	found := parseErrorForm.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if found == nil {
		return market.TemplateError{Line: 1, Message: "is not a template: " + err.Error()}
	}
	line, _ := strconv.Atoi(found[1])
	message := found[2]
	if strings.HasSuffix(message, "not defined") && strings.HasPrefix(message, "function") {
		message += "; see the documentation for those that are, and write a dot before a field's name"
	}
	return market.TemplateError{Line: max(line, 1), Message: message}
}

// templateCompiler turns the parser's tree into pieces, and follows the context
// through them.
type templateCompiler struct {
	text     string
	secrets  map[string]string // full names of secrets, by their names in templates
	adapter  *Template
	context  context
	pieces   int
	mistakes []market.TemplateError
}

func (c *templateCompiler) failAt(at parse.Pos, format string, args ...any) {
	c.mistakes = append(c.mistakes, market.TemplateError{Line: c.line(at), Message: fmt.Sprintf(format, args...)})
}

func (c *templateCompiler) line(at parse.Pos) int {
	return 1 + strings.Count(c.text[:min(int(at), len(c.text))], "\n")
}

// count bounds what a run of the template can cost.
func (c *templateCompiler) count(at parse.Pos) bool {
	c.pieces++
	if c.pieces == maxPieces+1 {
		c.failAt(at, "the template has over %d parts", maxPieces)
	}
	return c.pieces <= maxPieces
}

// list compiles a stretch. It ends at the first mistake about the context, of
// which all that follows would be mere echoes.
func (c *templateCompiler) list(list *parse.ListNode) (pieces []piece) {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		before := len(c.mistakes)
		if !c.count(node.Position()) {
			return nil
		}
		var p piece
		switch node := node.(type) {
		case *parse.TextNode:
			p = c.literal(node)
		case *parse.ActionNode:
			p = c.insertion(node)
		case *parse.IfNode:
			p = c.choice(node)
		default:
			c.failAt(node.Position(), "%s is not supported; use values, if and else", firstWord(node.String()))
		}
		if len(c.mistakes) > before && c.context == 0 {
			return nil
		}
		pieces = append(pieces, p)
	}
	return pieces
}

func firstWord(action string) string {
	words := strings.Fields(strings.Trim(action, "{}"))
	if len(words) == 0 {
		return "this"
	}
	return words[0]
}

// lost ends the compilation: where the next piece would stand is not known.
func (c *templateCompiler) failContext(at parse.Pos, message string) {
	c.failAt(at, "%s", message)
	c.context = 0
}

// literal is the author's text. In a form, white space only makes it readable.
func (c *templateCompiler) literal(node *parse.TextNode) piece {
	text := node.Text
	if c.adapter.format == market.FormatForm {
		text = slices.DeleteFunc(slices.Clone(text), func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' })
	}
	after, err := c.context.after(text)
	if err != nil {
		c.failContext(node.Pos, err.Error())
		return nil
	}
	c.context = after
	return literal(slices.Clone(text))
}

func (c *templateCompiler) insertion(node *parse.ActionNode) piece {
	if name := secretIn(node.Pipe); name != nil {
		return c.secret(node, name)
	}
	value := c.pipe(node.Pipe)
	if err := c.context.checkInsertion(); err != nil {
		c.failContext(node.Pos, err.Error())
		return nil
	}
	p := insertion{value: value, place: c.context}
	c.context = c.context.afterValue()
	return p
}

func (c *templateCompiler) choice(node *parse.IfNode) piece {
	condition := c.pipe(node.Pipe)
	if !c.context.canBranch() {
		c.failContext(node.Pos, "an if cannot stand behind a backslash, in a comment, in CDATA or in <? ?>")
		return nil
	}
	p := choice{condition: condition}
	before := c.context
	p.yes = c.list(node.List)
	yes := c.context
	if yes == 0 {
		return nil
	}
	c.context = before
	p.no = c.list(node.ElseList)
	if c.context == 0 {
		return nil
	}
	joined, ok := yes.join(c.context)
	if !ok {
		c.failContext(node.Pos, "the branches of this if end in different places: one inside a text or a tag, the other outside")
		return nil
	}
	c.context = joined
	return p
}

var errNotPlain = errors.New("is not supported; use fields, texts, numbers, true, false and functions")
