package adapter

import (
	"strconv"
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// pipe compiles what stands between {{ and }}: each command's value is the last
// argument of the next. A mistake leaves an absent value behind.
func (c *templateCompiler) pipe(pipe *parse.PipeNode) expression {
	if len(pipe.Decl) > 0 {
		c.failAt(pipe.Pos, "variables are not supported; write the value where it belongs")
		return constant{}
	}
	var value expression
	for _, command := range pipe.Cmds {
		value = c.command(command, value)
	}
	return value
}

// command compiles one call, or one value that begins the pipe.
func (c *templateCompiler) command(command *parse.CommandNode, piped expression) expression {
	first := command.Args[0]
	name, isName := first.(*parse.IdentifierNode)
	if !isName {
		if len(command.Args) > 1 || piped != nil {
			c.failAt(command.Pos, "%s is a value and takes nothing; write the function first", first)
			return constant{}
		}
		return c.operand(first)
	}
	arguments := make([]expression, 0, len(command.Args))
	for _, argument := range command.Args[1:] {
		arguments = append(arguments, c.operand(argument))
	}
	if piped != nil {
		arguments = append(arguments, piped)
	}
	return c.call(name, arguments)
}

// operand compiles one value.
func (c *templateCompiler) operand(node parse.Node) expression {
	if !c.count(node.Position()) {
		return constant{}
	}
	switch node := node.(type) {
	case *parse.FieldNode:
		if len(node.Ident) != 1 {
			c.failAt(node.Pos, "%s: a field has no parts; write its name for buyers alone", node)
			return constant{}
		}
		return c.field(node.Pos, node.Ident[0])
	case *parse.StringNode:
		return constant{Kind: market.KindString, Text: []byte(node.Text)}
	case *parse.BoolNode:
		return constant(market.BoolValue(node.True))
	case *parse.NumberNode:
		if _, code := format.ReadInteger([]byte(node.Text)); code == "" && format.PlainInteger([]byte(node.Text)) {
			return constant{Kind: market.KindInteger, Text: []byte(node.Text)}
		}
		if _, code := format.ReadNumber([]byte(node.Text)); code == "" {
			return constant{Kind: market.KindNumber, Text: []byte(node.Text)}
		}
		c.failAt(node.Pos, "%s is not a decimal number", node.Text)
		return constant{}
	case *parse.PipeNode:
		return c.pipe(node)
	case *parse.IdentifierNode:
		return c.call(node, nil)
	}
	c.failAt(node.Position(), "%s %v", node, errNotPlain)
	return constant{}
}

// field notes that the template names a field.
func (c *templateCompiler) field(at parse.Pos, name string) expression {
	use := fieldUse{name: name, line: c.line(at)}
	if c.adapter.purpose == forPing && market.IsKnownContact(name) {
		c.failAt(at, "%s says who the person is, and a ping never does; remove it", name)
	}
	c.adapter.uses = append(c.adapter.uses, use)
	return field(name)
}

// call compiles a function, a word of the head, or field "…".
func (c *templateCompiler) call(name *parse.IdentifierNode, arguments []expression) expression {
	if name.Ident == "field" {
		if len(arguments) == 1 {
			if text, ok := arguments[0].(constant); ok && text.Kind == market.KindString {
				return c.field(name.Pos, string(text.Text))
			}
		}
		c.failAt(name.Pos, `field wants the field's name for buyers in quotes, such as field "my field"`)
		return constant{}
	}
	if name.Ident == secretWord {
		c.failAt(name.Pos, `secret stands alone in its braces, such as {{secret "key"}}; no function and no if takes it`)
		return constant{}
	}
	if word, ok := headerWords[name.Ident]; ok {
		switch {
		case len(arguments) > 0:
			c.failAt(name.Pos, "%s takes nothing", name.Ident)
		case word.purpose != 0 && word.purpose != c.adapter.purpose:
			c.failAt(name.Pos, "%s is not known in a %s", name.Ident, c.adapter.purpose)
		}
		return headerValue{word}
	}
	f := functions[name.Ident]
	if len(arguments) < f.least || len(arguments) > f.most {
		c.failAt(name.Pos, "%s has %d arguments, and takes %s", name.Ident, len(arguments), atMost(f))
		return constant{}
	}
	if f.prepare != nil {
		if err := f.prepare(arguments); err != nil {
			c.failAt(name.Pos, "%s %v", name.Ident, err)
			return constant{}
		}
	}
	if f.compares {
		c.compared(arguments)
	}
	return call{function: f, arguments: arguments}
}

func atMost(f *function) string {
	if f.least == f.most {
		return strconv.Itoa(f.least)
	}
	return strconv.Itoa(f.least) + " to " + strconv.Itoa(f.most)
}

// compared notes the constants that fields are held against, by themselves or
// through functions, so that Check tries them as samples.
func (c *templateCompiler) compared(arguments []expression) {
	var others []market.Value
	for _, a := range arguments {
		if text, ok := a.(constant); ok {
			others = append(others, market.Value(text))
		}
	}
	if len(others) == 0 {
		return
	}
	for _, name := range fieldsIn(arguments) {
		for i := range c.adapter.uses {
			if use := &c.adapter.uses[i]; use.name == string(name) {
				use.comparedWith = append(use.comparedWith, others...)
				break
			}
		}
	}
}

// fieldsIn are the fields that values are made of.
func fieldsIn(values []expression) (fields []field) {
	for _, value := range values {
		switch value := value.(type) {
		case field:
			fields = append(fields, value)
		case call:
			fields = append(fields, fieldsIn(value.arguments)...)
		}
	}
	return fields
}

func (p purpose) String() string {
	if p == forPing {
		return "ping"
	}
	return "post"
}
