package adapter

import (
	"text/template/parse"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// secretWord writes a secret into a body: {{secret "name"}}.
const secretWord = "secret"

// secretIn returns the call of secret that a pipe consists of, or nil.
func secretIn(pipe *parse.PipeNode) *parse.CommandNode {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 {
		return nil
	}
	if word, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && word.Ident == secretWord {
		return pipe.Cmds[0]
	}
	return nil
}

// secret compiles {{secret "name"}}. Functions never see a secret, so a body cannot
// hold a part of one, or a hash, where the log would keep it.
func (c *templateCompiler) secret(node *parse.ActionNode, command *parse.CommandNode) piece {
	if err := c.context.checkInsertion(); err != nil {
		c.failContext(node.Pos, err.Error())
		return nil
	}
	place := c.context
	c.context = place.afterValue()
	var name string
	if len(command.Args) == 2 {
		if text, ok := command.Args[1].(*parse.StringNode); ok {
			name = text.Text
		}
	}
	full, known := c.secrets[name]
	switch {
	case name == "":
		c.failAt(node.Pos, `secret wants the name of one of the buyer's secrets in quotes, such as {{secret "key"}}`)
	case !known:
		c.failAt(node.Pos, "there is no secret %s; add it to the buyer's secrets, or correct the name", market.ShortenName([]byte(name)))
	}
	return newPlaceholder(place, full)
}

// placeholder is a secret's place in a body.
type placeholder struct {
	text   []byte // as it is logged
	sample []byte // as Check judges it
}

func newPlaceholder(place context, name string) placeholder {
	p := placeholder{sample: place.insert(nil, market.TextValue(market.SampleText))}
	switch place {
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
	if w.view.sample {
		w.dst = append(w.dst, p.sample...)
		return
	}
	w.dst = append(w.dst, p.text...)
}
