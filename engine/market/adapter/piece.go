package adapter

import "pingpost/engine/market"

// templatePiece is a part of a compiled template: a literal text, an inserted value, a
// placeholder for a secret, or an if with its branches. write appends the part to the body.
type templatePiece interface{ write(w *bodyWriter) }

// bodyWriter writes one body from the pieces of a template.
type bodyWriter struct {
	data     templateData
	dst      []byte
	limit    int    // of dst, in bytes
	exceeded bool   // the body exceeds the limit; further pieces are skipped
	scratch  []byte // texts that functions rewrote for the current insertion
}

// writePieces appends the pieces to the body. It stops once the body exceeds the limit.
func (w *bodyWriter) writePieces(pieces []templatePiece) {
	for _, p := range pieces {
		if w.exceeded {
			return
		}
		p.write(w)
		w.exceeded = w.exceeded || len(w.dst) > w.limit
	}
}

// literalText is text of the template outside of actions, which is written unchanged.
type literalText []byte

func (l literalText) write(w *bodyWriter) { w.dst = append(w.dst, l...) }

// insertedValue is an action that inserts a value. context selects the escaping of the value.
type insertedValue struct {
	value   valueExpression
	context escapeContext
}

func (i insertedValue) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	w.dst = i.context.appendValue(w.dst, i.value.evaluate(w))
}

// ifElse is an if with its two branches.
type ifElse struct {
	condition valueExpression
	yes, no   []templatePiece
}

func (c ifElse) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	if isTruthy(c.condition.evaluate(w)) {
		w.writePieces(c.yes)
	} else {
		w.writePieces(c.no)
	}
}

// isTruthy reports whether an if treats the value as true: it is present and not false.
func isTruthy(v market.Value) bool {
	return v.Kind != market.KindAbsent && !(v.Kind == market.KindBoolean && string(v.Text) == "false")
}

// valueExpression is a compiled expression of a template. evaluate returns its value for one
// body.
type valueExpression interface {
	evaluate(w *bodyWriter) market.Value
}

// constantValue is a constant that the template contains, such as "CA" or 12.
type constantValue market.Value

func (c constantValue) evaluate(*bodyWriter) market.Value { return market.Value(c) }

// fieldExpression is the value of a field, by the field's name for buyers.
type fieldExpression string

func (f fieldExpression) evaluate(w *bodyWriter) market.Value { return w.data.fieldValue(string(f)) }

// requestExpression is a value that is not a field of the lead, such as the price.
type requestExpression struct{ source requestValue }

func (s requestExpression) evaluate(w *bodyWriter) market.Value { return s.source.read(&w.data) }

// functionCall is the result of a template function.
type functionCall struct {
	function  *templateFunction
	arguments []valueExpression
}

func (c functionCall) evaluate(w *bodyWriter) market.Value {
	var buffer [8]market.Value
	arguments := buffer[:0]
	for _, a := range c.arguments {
		arguments = append(arguments, a.evaluate(w))
	}
	return c.function.apply(w, arguments)
}
