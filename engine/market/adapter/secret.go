package adapter

import (
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// secretWord is the word with which a template writes a secret into a body: {{secret "name"}}.
const secretWord = "secret"

// findSoleSecretCall returns the action's command if the action is {{secret "name"}} alone, or nil.
func findSoleSecretCall(pipe *parse.PipeNode) (commandOrNil *parse.CommandNode) {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 {
		return nil
	}
	if word, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && word.Ident == secretWord {
		return pipe.Cmds[0]
	}
	return nil
}

// compileSecretPlaceholder compiles {{secret "name"}} to a placeholder. A secret cannot be the
// argument of a function. So no body, and therefore no log record, can hold a part or a hash of a
// secret.
func (c *templateCompiler) compileSecretPlaceholder(node *parse.ActionNode, command *parse.CommandNode) templatePiece {
	if err := c.context.checkValueAllowed(); err != nil {
		c.addMistakeAndStopCompiling(node.Pos, err.Error())
		return nil
	}
	context := c.context
	c.context = context.contextAfterValue()
	var name string
	if len(command.Args) == 2 {
		if text, ok := command.Args[1].(*parse.StringNode); ok {
			name = text.Text
		}
	}
	full, known := c.secrets[name]
	switch {
	case name == "":
		c.addMistakeAt(node.Pos, `secret needs the name of one of the buyer's secrets in quotes, such as {{secret "key"}}`)
	case !known:
		c.addMistakeAt(node.Pos, "there is no secret %s; add it to the buyer's secrets, or correct the name", market.ShortenMemberName([]byte(name)))
	}
	return newSecretPlaceholder(context, full)
}

// secretPlaceholder is the part of a template that writes a mark for a secret into the body. The secret
// replaces the mark when the body is sent.
type secretPlaceholder struct {
	text   []byte // the placeholder for the body in the log
	sample []byte // sample text for Check
}

// newSecretPlaceholder returns a placeholder for the secret with this full name, with the escaping of
// the context.
func newSecretPlaceholder(context escapeContext, secretFullName string) secretPlaceholder {
	p := secretPlaceholder{sample: context.appendEscapedValue(nil, market.TextValueOrAbsent(market.SampleText))}
	switch context {
	case jsonValue:
		p.text = append(escape.AppendSecretPlaceholder([]byte{'"'}, escape.JSON, secretFullName), '"')
	case jsonText:
		p.text = escape.AppendSecretPlaceholder(nil, escape.JSON, secretFullName)
	case formText:
		p.text = escape.AppendSecretPlaceholder(nil, escape.Form, secretFullName)
	default:
		p.text = escape.AppendSecretPlaceholder(nil, escape.XML, secretFullName)
	}
	return p
}

func (p secretPlaceholder) write(w *bodyWriter) {
	if w.data.sample {
		w.dst = append(w.dst, p.sample...)
		return
	}
	w.dst = append(w.dst, p.text...)
}
