package adapter

import (
	"strconv"
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// compilePipe compiles the commands of an action, which | separates. The value of each command
// becomes the last argument of the next one. After a mistake the result does not matter, because
// newTemplate then returns no template.
func (c *templateCompiler) compilePipe(pipe *parse.PipeNode) valueExpression {
	if len(pipe.Decl) > 0 {
		c.addMistakeAt(pipe.Pos, "variables are not supported; write the value where it belongs")
		return constantExpression{}
	}
	var value valueExpression
	for _, command := range pipe.Cmds {
		value = c.compileCommand(command, value)
	}
	return value
}

// compileCommand compiles one command of a pipe: a call, or at the start also a plain value.
// pipedValue is the value of the command before it, or nil at the start.
func (c *templateCompiler) compileCommand(command *parse.CommandNode, pipedValue valueExpression) valueExpression {
	first := command.Args[0]
	name, isName := first.(*parse.IdentifierNode)
	if !isName {
		if len(command.Args) > 1 || pipedValue != nil {
			c.addMistakeAt(command.Pos, "%s is a value and has no arguments; write the function first", first)
			return constantExpression{}
		}
		return c.compileOperand(first)
	}
	arguments := make([]valueExpression, 0, len(command.Args))
	for _, argument := range command.Args[1:] {
		arguments = append(arguments, c.compileOperand(argument))
	}
	if pipedValue != nil {
		arguments = append(arguments, pipedValue)
	}
	return c.compileCallOrMetadataValue(name, arguments)
}

// compileOperand compiles an argument or a plain value: a field, a constant, a pipe in
// parentheses or a call without arguments.
func (c *templateCompiler) compileOperand(node parse.Node) valueExpression {
	if !c.countPieceOrAddMistake(node.Position()) {
		return constantExpression{}
	}
	switch node := node.(type) {
	case *parse.FieldNode:
		if len(node.Ident) != 1 {
			c.addMistakeAt(node.Pos, "%s: a field has no parts; write its name for buyers alone", node)
			return constantExpression{}
		}
		return c.compileField(node.Pos, node.Ident[0])
	case *parse.StringNode:
		return constantExpression{Kind: market.KindString, Text: []byte(node.Text)}
	case *parse.BoolNode:
		return constantExpression(market.BoolValue(node.True))
	case *parse.NumberNode:
		if _, code := format.ParseInteger([]byte(node.Text)); code == "" && format.IsPlainInteger([]byte(node.Text)) {
			return constantExpression{Kind: market.KindInteger, Text: []byte(node.Text)}
		}
		if _, code := format.ParseNumber([]byte(node.Text)); code == "" {
			return constantExpression{Kind: market.KindNumber, Text: []byte(node.Text)}
		}
		c.addMistakeAt(node.Pos, "%s is not a decimal number", node.Text)
		return constantExpression{}
	case *parse.PipeNode:
		return c.compilePipe(node)
	case *parse.IdentifierNode:
		return c.compileCallOrMetadataValue(node, nil)
	}
	c.addMistakeAt(node.Position(), "%s %v", node, errNotPlain)
	return constantExpression{}
}

// compileField compiles the value of the field fieldName, and records the use of the field for
// Check. A known contact field in a ping is a mistake.
func (c *templateCompiler) compileField(at parse.Pos, fieldName string) valueExpression {
	use := fieldUse{name: fieldName, line: c.lineNumberAt(at)}
	if c.template.kind == pingBody && market.IsKnownContactField(fieldName) {
		c.addMistakeAt(at, "%s identifies the person, so a ping cannot have it; remove it", fieldName)
	}
	c.template.uses = append(c.template.uses, use)
	return fieldValueExpression(fieldName)
}

// compileCallOrMetadataValue compiles an identifier with its arguments: a function, a request value
// such as price, or field "…". It records a mistake if the arguments do not suit.
func (c *templateCompiler) compileCallOrMetadataValue(name *parse.IdentifierNode, arguments []valueExpression) valueExpression {
	if name.Ident == "field" {
		if len(arguments) == 1 {
			if text, ok := arguments[0].(constantExpression); ok && text.Kind == market.KindString {
				return c.compileField(name.Pos, string(text.Text))
			}
		}
		c.addMistakeAt(name.Pos, `field needs the field's name for buyers in quotes, such as field "my field"`)
		return constantExpression{}
	}
	if name.Ident == secretWord {
		c.addMistakeAt(name.Pos, `secret must be alone in its braces, such as {{secret "key"}}; it cannot be an argument or a condition`)
		return constantExpression{}
	}
	if word, ok := requestValues[name.Ident]; ok {
		switch {
		case len(arguments) > 0:
			c.addMistakeAt(name.Pos, "%s takes no arguments; remove them", name.Ident)
		case word.kind != 0 && word.kind != c.template.kind:
			c.addMistakeAt(name.Pos, "%s is not available in a %s template; remove it", name.Ident, c.template.kind)
		}
		return metadataExpression{word}
	}
	f := functions[name.Ident]
	if len(arguments) < f.minArguments || len(arguments) > f.maxArguments {
		c.addMistakeAt(name.Pos, "%s has %d arguments here, but needs %s", name.Ident, len(arguments), describeAcceptedArgumentCount(f))
		return constantExpression{}
	}
	if f.prepareArguments != nil {
		if err := f.prepareArguments(arguments); err != nil {
			c.addMistakeAt(name.Pos, "%s %v", name.Ident, err)
			return constantExpression{}
		}
	}
	if f.comparesConstants {
		c.recordConstantsForSamples(arguments)
	}
	return functionCallExpression{function: f, arguments: arguments}
}

// describeAcceptedArgumentCount returns the number of arguments that the function accepts, in words.
func describeAcceptedArgumentCount(f *templateFunction) (inWords string) {
	if f.minArguments == f.maxArguments {
		return strconv.Itoa(f.minArguments)
	}
	return strconv.Itoa(f.minArguments) + " to " + strconv.Itoa(f.maxArguments)
}

// recordConstantsForSamples records the constants with which a function compares fields. Check then
// tries these constants as samples of the fields.
func (c *templateCompiler) recordConstantsForSamples(arguments []valueExpression) {
	var others []market.FieldValue
	for _, a := range arguments {
		if text, ok := a.(constantExpression); ok {
			others = append(others, market.FieldValue(text))
		}
	}
	if len(others) == 0 {
		return
	}
	for _, name := range collectFieldExpressions(arguments) {
		for i := range c.template.uses {
			if use := &c.template.uses[i]; use.name == string(name) {
				use.comparedWith = append(use.comparedWith, others...)
				break
			}
		}
	}
}

// collectFieldExpressions returns the fields that the expressions name, also inside function calls.
func collectFieldExpressions(expressions []valueExpression) (fields []fieldValueExpression) {
	for _, value := range expressions {
		switch value := value.(type) {
		case fieldValueExpression:
			fields = append(fields, value)
		case functionCallExpression:
			fields = append(fields, collectFieldExpressions(value.arguments)...)
		}
	}
	return fields
}

func (p requestBodyKind) String() string {
	if p == pingBody {
		return "ping"
	}
	return "post"
}
