package adapter

import (
	"strconv"
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// compilePipe compiles the commands of an action, which | separates. The value of each command
// becomes the last argument of the next one. After a mistake it returns an absent value.
func (c *templateCompiler) compilePipe(pipe *parse.PipeNode) valueExpression {
	if len(pipe.Decl) > 0 {
		c.addMistakeAt(pipe.Pos, "variables are not supported; write the value where it belongs")
		return constantValue{}
	}
	var value valueExpression
	for _, command := range pipe.Cmds {
		value = c.compileCommand(command, value)
	}
	return value
}

// compileCommand compiles one command of a pipe: a call, or at the start also a plain value.
// piped is the value of the command before it, or nil at the start.
func (c *templateCompiler) compileCommand(command *parse.CommandNode, piped valueExpression) valueExpression {
	first := command.Args[0]
	name, isName := first.(*parse.IdentifierNode)
	if !isName {
		if len(command.Args) > 1 || piped != nil {
			c.addMistakeAt(command.Pos, "%s is a value and has no arguments; write the function first", first)
			return constantValue{}
		}
		return c.compileOperand(first)
	}
	arguments := make([]valueExpression, 0, len(command.Args))
	for _, argument := range command.Args[1:] {
		arguments = append(arguments, c.compileOperand(argument))
	}
	if piped != nil {
		arguments = append(arguments, piped)
	}
	return c.compileCall(name, arguments)
}

// compileOperand compiles an argument or a plain value: a field, a constant, a pipe in
// parentheses or a call without arguments.
func (c *templateCompiler) compileOperand(node parse.Node) valueExpression {
	if !c.countPieceWithinLimit(node.Position()) {
		return constantValue{}
	}
	switch node := node.(type) {
	case *parse.FieldNode:
		if len(node.Ident) != 1 {
			c.addMistakeAt(node.Pos, "%s: a field has no parts; write its name for buyers alone", node)
			return constantValue{}
		}
		return c.compileField(node.Pos, node.Ident[0])
	case *parse.StringNode:
		return constantValue{Kind: market.KindString, Text: []byte(node.Text)}
	case *parse.BoolNode:
		return constantValue(market.BoolValue(node.True))
	case *parse.NumberNode:
		if _, code := format.ParseInteger([]byte(node.Text)); code == "" && format.IsPlainInteger([]byte(node.Text)) {
			return constantValue{Kind: market.KindInteger, Text: []byte(node.Text)}
		}
		if _, code := format.ParseNumber([]byte(node.Text)); code == "" {
			return constantValue{Kind: market.KindNumber, Text: []byte(node.Text)}
		}
		c.addMistakeAt(node.Pos, "%s is not a decimal number", node.Text)
		return constantValue{}
	case *parse.PipeNode:
		return c.compilePipe(node)
	case *parse.IdentifierNode:
		return c.compileCall(node, nil)
	}
	c.addMistakeAt(node.Position(), "%s %v", node, errNotPlain)
	return constantValue{}
}

// compileField compiles the value of the field name, and records the use of the field for Check.
func (c *templateCompiler) compileField(at parse.Pos, name string) valueExpression {
	use := fieldUse{name: name, line: c.lineAt(at)}
	if c.template.kind == pingBody && market.IsKnownContact(name) {
		c.addMistakeAt(at, "%s identifies the person, so a ping cannot have it; remove it", name)
	}
	c.template.uses = append(c.template.uses, use)
	return fieldExpression(name)
}

// compileCall compiles an identifier with its arguments: a function, a request value such as
// price, or field "…". It records a mistake if the arguments do not suit.
func (c *templateCompiler) compileCall(name *parse.IdentifierNode, arguments []valueExpression) valueExpression {
	if name.Ident == "field" {
		if len(arguments) == 1 {
			if text, ok := arguments[0].(constantValue); ok && text.Kind == market.KindString {
				return c.compileField(name.Pos, string(text.Text))
			}
		}
		c.addMistakeAt(name.Pos, `field needs the field's name for buyers in quotes, such as field "my field"`)
		return constantValue{}
	}
	if name.Ident == secretWord {
		c.addMistakeAt(name.Pos, `secret must be alone in its braces, such as {{secret "key"}}; it cannot be an argument or a condition`)
		return constantValue{}
	}
	if word, ok := requestValues[name.Ident]; ok {
		switch {
		case len(arguments) > 0:
			c.addMistakeAt(name.Pos, "%s has no arguments; remove them", name.Ident)
		case word.kind != 0 && word.kind != c.template.kind:
			c.addMistakeAt(name.Pos, "%s is not available in a %s", name.Ident, c.template.kind)
		}
		return requestExpression{word}
	}
	f := functions[name.Ident]
	if len(arguments) < f.minArguments || len(arguments) > f.maxArguments {
		c.addMistakeAt(name.Pos, "%s has %d arguments here, but needs %s", name.Ident, len(arguments), describeArgumentCount(f))
		return constantValue{}
	}
	if f.prepareArguments != nil {
		if err := f.prepareArguments(arguments); err != nil {
			c.addMistakeAt(name.Pos, "%s %v", name.Ident, err)
			return constantValue{}
		}
	}
	if f.comparesConstants {
		c.recordComparedConstants(arguments)
	}
	return functionCall{function: f, arguments: arguments}
}

// describeArgumentCount returns the number of arguments that the function accepts, in words.
func describeArgumentCount(f *templateFunction) string {
	if f.minArguments == f.maxArguments {
		return strconv.Itoa(f.minArguments)
	}
	return strconv.Itoa(f.minArguments) + " to " + strconv.Itoa(f.maxArguments)
}

// recordComparedConstants records the constants with which a function compares fields. Check then
// tries these constants as samples of the fields.
func (c *templateCompiler) recordComparedConstants(arguments []valueExpression) {
	var others []market.Value
	for _, a := range arguments {
		if text, ok := a.(constantValue); ok {
			others = append(others, market.Value(text))
		}
	}
	if len(others) == 0 {
		return
	}
	for _, name := range collectFields(arguments) {
		for i := range c.template.uses {
			if use := &c.template.uses[i]; use.name == string(name) {
				use.comparedWith = append(use.comparedWith, others...)
				break
			}
		}
	}
}

// collectFields returns the fields that the expressions name, also inside function calls.
func collectFields(values []valueExpression) (fields []fieldExpression) {
	for _, value := range values {
		switch value := value.(type) {
		case fieldExpression:
			fields = append(fields, value)
		case functionCall:
			fields = append(fields, collectFields(value.arguments)...)
		}
	}
	return fields
}

func (p bodyKind) String() string {
	if p == pingBody {
		return "ping"
	}
	return "post"
}
