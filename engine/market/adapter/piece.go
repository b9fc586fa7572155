package adapter

import "pingpost/engine/market"

// templatePiece is a part of a compiled template: a literal, an insertion, a placeholder or a
// conditional.
type templatePiece interface{ write(w *bodyWriter) }

// bodyWriter writes one body.
type bodyWriter struct {
	data     templateData
	dst      []byte
	limit    int    // of dst, in bytes
	exceeded bool   // the body exceeds the limit; further pieces are skipped
	scratch  []byte // texts that functions rewrote for the current insertion
}

func (w *bodyWriter) writePieces(pieces []templatePiece) {
	for _, p := range pieces {
		if w.exceeded {
			return
		}
		p.write(w)
		w.exceeded = w.exceeded || len(w.dst) > w.limit
	}
}

// literalText is fixed text that the template's author wrote.
type literalText []byte

func (l literalText) write(w *bodyWriter) { w.dst = append(w.dst, l...) }

// insertedValue is a value, written by the escaping rule of its context.
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

// isTruthy returns an if's condition: every known value except false is true.
func isTruthy(v market.Value) bool {
	return v.Kind != market.KindAbsent && !(v.Kind == market.KindBoolean && string(v.Text) == "false")
}

// valueExpression computes a value: a constant, a field, a request value, or a function's
// result.
type valueExpression interface {
	evaluate(w *bodyWriter) market.Value
}

type constantValue market.Value

func (c constantValue) evaluate(*bodyWriter) market.Value { return market.Value(c) }

type fieldExpression string

func (f fieldExpression) evaluate(w *bodyWriter) market.Value { return w.data.fieldValue(string(f)) }

type requestExpression struct{ source requestValue }

func (s requestExpression) evaluate(w *bodyWriter) market.Value { return s.source.read(&w.data) }

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
