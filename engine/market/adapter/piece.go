package adapter

import "pingpost/engine/market"

// templatePiece is a part of a compiled template: a literal text, an inserted value, a placeholder
// for a secret, or an if with its branches. write appends the part to the body.
type templatePiece interface{ write(w *bodyWriter) }

// bodyWriter writes one body from the pieces of a template.
type bodyWriter struct {
	data     bodyData
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

// valueInsertion is an action that inserts a value. context selects the escaping of the value.
type valueInsertion struct {
	value   valueExpression
	context escapeContext
}

func (i valueInsertion) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	w.dst = i.context.appendEscapedValue(w.dst, i.value.evaluate(w))
}

// ifElsePiece is an if with its two branches.
type ifElsePiece struct {
	condition valueExpression
	yes, no   []templatePiece
}

func (c ifElsePiece) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	if isPresentAndNotFalse(c.condition.evaluate(w)) {
		w.writePieces(c.yes)
	} else {
		w.writePieces(c.no)
	}
}

// isPresentAndNotFalse reports whether an if treats the value as true: it is present and not false.
func isPresentAndNotFalse(v market.FieldValue) bool {
	return v.Kind != market.KindAbsent && !(v.Kind == market.KindBoolean && string(v.Text) == "false")
}

// valueExpression is a compiled expression of a template. evaluate returns its value for one
// body.
type valueExpression interface {
	evaluate(w *bodyWriter) market.FieldValue
}

// constantExpression is a constant that the template contains, such as "CA" or 12.
type constantExpression market.FieldValue

func (c constantExpression) evaluate(*bodyWriter) market.FieldValue { return market.FieldValue(c) }

// fieldValueExpression is the value of a field, by the field's name for buyers.
type fieldValueExpression string

func (f fieldValueExpression) evaluate(w *bodyWriter) market.FieldValue {
	return w.data.fieldValueForBuyer(string(f))
}

// metadataExpression is a value that is not a field of the lead, such as the price.
type metadataExpression struct{ source requestMetadataSource }

func (s metadataExpression) evaluate(w *bodyWriter) market.FieldValue { return s.source.read(&w.data) }

// functionCallExpression is the result of a template function.
type functionCallExpression struct {
	function  *templateFunction
	arguments []valueExpression
}

func (c functionCallExpression) evaluate(w *bodyWriter) market.FieldValue {
	var buffer [8]market.FieldValue
	arguments := buffer[:0]
	for _, a := range c.arguments {
		arguments = append(arguments, a.evaluate(w))
	}
	return c.function.apply(w, arguments)
}
