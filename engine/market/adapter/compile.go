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

	wholeTemplate = "\x00" // the template's name in the parser; no {{define}} can have it
)

// NewPingTemplate compiles an operator's template for pings. format is the body's format: JSON,
// form or XML. secretFullNames maps the names of secrets in templates to their full names.
//
// It returns either a template or the mistakes that are visible without a campaign. Of several
// syntax errors it returns only the first. Check then tests for each campaign that the fields exist
// and that the bodies are well formed.
func NewPingTemplate(format, template string, secretFullNames map[string]string) (compiled *Template, mistakes []market.TemplateError) {
	return newTemplate(pingBody, format, template, secretFullNames)
}

// NewPostTemplate compiles an operator's template for posts. format is the body's format: JSON,
// form or XML. secretFullNames maps the names of secrets in templates to their full names. It returns
// the same as NewPingTemplate.
func NewPostTemplate(format, template string, secretFullNames map[string]string) (compiled *Template, mistakes []market.TemplateError) {
	return newTemplate(postBody, format, template, secretFullNames)
}

// newTemplate checks and compiles a template for bodies of this kind.
func newTemplate(kind requestBodyKind, format, template string, secretFullNames map[string]string) (compiled *Template, mistakes []market.TemplateError) {
	start, ok := contextAtBodyStart(format)
	if !ok {
		return nil, []market.TemplateError{{Line: 1, Message: "the format is not json, form or xml"}}
	}
	template = strings.TrimRight(template, " \t\r\n")
	switch {
	case template == "":
		return nil, []market.TemplateError{{Line: 1, Message: "the template is empty"}}
	case len(template) > maxTemplate:
		return nil, []market.TemplateError{{Line: 1, Message: fmt.Sprintf("the template is over %d bytes", maxTemplate)}}
	case !utf8.ValidString(template):
		return nil, []market.TemplateError{{Line: 1, Message: "the template is not UTF-8"}}
	case escape.HasSecretPlaceholder(template):
		return nil, []market.TemplateError{{Line: 1, Message: "the template contains the control character U+001A; remove it"}}
	}
	trees, err := parse.Parse(wholeTemplate, template, "{{", "}}", identifiersForParser())
	if err != nil {
		return nil, []market.TemplateError{templateErrorFromParser(err)}
	}
	c := templateCompiler{text: template, secrets: secretFullNames, template: &Template{kind: kind, format: format}, context: start}
	if len(trees) != 1 {
		c.addMistakeAt(0, "define, block and template are not supported; write their text in place")
		return nil, c.mistakes
	}
	c.template.pieces = c.compileList(trees[wholeTemplate].Root)
	if len(c.mistakes) == 0 && !c.context.canEndBody() {
		c.addMistakeAt(parse.Pos(len(template)), "the body ends inside a string, a tag or a comment; close it")
	}
	if len(c.mistakes) > 0 {
		slices.SortStableFunc(c.mistakes, func(a, b market.TemplateError) int { return cmp.Compare(a.Line, b.Line) })
		return nil, c.mistakes
	}
	return c.template, nil
}

// identifiersForParser returns the identifiers that the parser must accept in a template: the names
// of functions and request values, and the words field and secret.
func identifiersForParser() map[string]any {
	known := make(map[string]any, len(functions)+len(requestValues)+2)
	for name := range functions {
		known[name] = true
	}
	for name := range requestValues {
		known[name] = true
	}
	known["field"], known[secretWord] = true, true
	return known
}

var parseErrorPattern = regexp.MustCompile(`^template: ` + wholeTemplate + `:(\d+):(?:\d+:)? (.*)`)

// templateErrorFromParser converts an error of the template parser to a TemplateError with its line.
func templateErrorFromParser(err error) market.TemplateError {
	match := parseErrorPattern.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if match == nil {
		return market.TemplateError{Line: 1, Message: "cannot parse the template: " + err.Error()}
	}
	line, _ := strconv.Atoi(match[1])
	message := match[2]
	if strings.HasSuffix(message, "not defined") && strings.HasPrefix(message, "function") {
		message += "; see the documentation for the functions, and write a dot before a field's name"
	}
	return market.TemplateError{Line: max(line, 1), Message: message}
}

// templateCompiler compiles the tree of text/template's parser to pieces. It tracks the escaping
// context at the position that it has reached.
type templateCompiler struct {
	text     string
	secrets  map[string]string // full names of secrets, by their names in templates
	template *Template
	context  escapeContext
	pieces   int
	mistakes []market.TemplateError
}

// addMistakeAt records a mistake at this position of the template.
func (c *templateCompiler) addMistakeAt(at parse.Pos, format string, args ...any) {
	c.mistakes = append(c.mistakes, market.TemplateError{Line: c.lineNumberAt(at), Message: fmt.Sprintf(format, args...)})
}

// lineNumberAt returns the line number of a position in the template, from 1.
func (c *templateCompiler) lineNumberAt(at parse.Pos) int {
	return 1 + strings.Count(c.text[:min(int(at), len(c.text))], "\n")
}

// countPieceOrAddMistake counts a piece or value, and returns false above maxPieces. The limit
// bounds the work of writing one body.
func (c *templateCompiler) countPieceOrAddMistake(at parse.Pos) (withinLimit bool) {
	c.pieces++
	if c.pieces == maxPieces+1 {
		c.addMistakeAt(at, "the template has over %d parts; shorten it", maxPieces)
	}
	return c.pieces <= maxPieces
}

// compileList compiles a list of nodes: text, insertions and ifs. It stops at the first mistake
// that leaves the escaping context unknown, because every later piece would report the same
// mistake.
func (c *templateCompiler) compileList(list *parse.ListNode) (pieces []templatePiece) {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		before := len(c.mistakes)
		if !c.countPieceOrAddMistake(node.Position()) {
			return nil
		}
		var p templatePiece
		switch node := node.(type) {
		case *parse.TextNode:
			p = c.compileLiteral(node)
		case *parse.ActionNode:
			p = c.compileValueOrSecretInsertion(node)
		case *parse.IfNode:
			p = c.compileIf(node)
		default:
			c.addMistakeAt(node.Position(), "%s is not supported; use values, if and else", firstWordOfAction(node.String()))
		}
		if len(c.mistakes) > before && c.context == 0 {
			return nil
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// firstWordOfAction returns the first word of an action, to name it in a mistake.
func firstWordOfAction(action string) string {
	words := strings.Fields(strings.Trim(action, "{}"))
	if len(words) == 0 {
		return "this"
	}
	return words[0]
}

// addMistakeAndStopCompiling records a mistake after which the escaping context is unknown. compileList
// then compiles no further nodes.
func (c *templateCompiler) addMistakeAndStopCompiling(at parse.Pos, message string) {
	c.addMistakeAt(at, "%s", message)
	c.context = 0
}

// compileLiteral compiles a piece of the operator's text. In a form it removes white space, which
// only makes the template readable.
func (c *templateCompiler) compileLiteral(node *parse.TextNode) templatePiece {
	text := node.Text
	if c.template.format == market.FormatForm {
		text = slices.DeleteFunc(slices.Clone(text), func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' })
	}
	after, err := c.context.contextAfterText(text)
	if err != nil {
		c.addMistakeAndStopCompiling(node.Pos, err.Error())
		return nil
	}
	c.context = after
	return literalText(slices.Clone(text))
}

// compileValueOrSecretInsertion compiles an action that inserts a value or a secret.
func (c *templateCompiler) compileValueOrSecretInsertion(node *parse.ActionNode) templatePiece {
	if name := findSoleSecretCall(node.Pipe); name != nil {
		return c.compileSecretPlaceholder(node, name)
	}
	value := c.compilePipe(node.Pipe)
	if err := c.context.checkValueAllowed(); err != nil {
		c.addMistakeAndStopCompiling(node.Pos, err.Error())
		return nil
	}
	p := valueInsertion{value: value, context: c.context}
	c.context = c.context.contextAfterValue()
	return p
}

// compileIf compiles an if with its branches. Both branches must end in contexts that can be
// joined.
func (c *templateCompiler) compileIf(node *parse.IfNode) templatePiece {
	condition := c.compilePipe(node.Pipe)
	if !c.context.canStartIfAction() {
		c.addMistakeAndStopCompiling(node.Pos, "an if is not allowed after a backslash, in a comment, in CDATA or in <? ?>; move it")
		return nil
	}
	p := ifElsePiece{condition: condition}
	before := c.context
	p.yes = c.compileList(node.List)
	yes := c.context
	if yes == 0 {
		return nil
	}
	c.context = before
	p.no = c.compileList(node.ElseList)
	if c.context == 0 {
		return nil
	}
	joined, ok := yes.mergeBranchContexts(c.context)
	if !ok {
		c.addMistakeAndStopCompiling(node.Pos, "the branches of this if end in different places, such as inside and outside a string or a comment; end both in the same place")
		return nil
	}
	c.context = joined
	return p
}

var errNotPlain = errors.New("is not supported; use fields, quoted strings, numbers, true, false and functions")
