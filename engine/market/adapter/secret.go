package adapter

import (
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// secretWord is the word with which a template writes a secret into a body: {{secret "name"}}.
const secretWord = "secret"

// findSecretCall returns the action's command if the action is {{secret "name"}} alone, or nil.
func findSecretCall(pipe *parse.PipeNode) *parse.CommandNode {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 {
		return nil
	}
	if word, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && word.Ident == secretWord {
		return pipe.Cmds[0]
	}
	return nil
}

// compileSecret compiles {{secret "name"}} to a placeholder. A secret cannot be the argument of a
// function. So no body, and therefore no log record, can hold a part or a hash of a secret.
func (c *templateCompiler) compileSecret(node *parse.ActionNode, command *parse.CommandNode) templatePiece {
	if err := c.context.checkInsertion(); err != nil {
		c.addMistakeAndStop(node.Pos, err.Error())
		return nil
	}
	context := c.context
	c.context = context.afterValue()
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
	return newPlaceholder(context, full)
}

// placeholder is the position of a secret in a body. The secret itself is inserted when the body
// is sent.
type placeholder struct {
	text   []byte // the placeholder for the body in the log
	sample []byte // sample text for Check
}

// newPlaceholder returns a placeholder for the secret with this full name, with the escaping of
// the context.
func newPlaceholder(context escapeContext, name string) placeholder {
	p := placeholder{sample: context.appendValue(nil, market.TextValue(market.SampleText))}
	switch context {
	case jsonValue:
		p.text = append(escape.AppendPlaceholder([]byte{'"'}, escape.JSON, name), '"')
	case jsonText:
		p.text = escape.AppendPlaceholder(nil, escape.JSON, name)
	case formText:
		p.text = escape.AppendPlaceholder(nil, escape.Form, name)
	default:
		p.text = escape.AppendPlaceholder(nil, escape.XML, name)
	}
	return p
}

func (p placeholder) write(w *bodyWriter) {
	if w.data.sample {
		w.dst = append(w.dst, p.sample...)
		return
	}
	w.dst = append(w.dst, p.text...)
}
