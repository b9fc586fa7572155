package adapter

import "pingpost/engine/market"

// piece is a part of a compiled template. Its kinds are literal, insertion and
// choice.
type piece interface{ write(w *bodyWriter) }

// bodyWriter writes one body.
type bodyWriter struct {
	view     view
	dst      []byte
	limit    int    // of dst, in bytes
	exceeded bool   // the body exceeds the limit; further pieces are skipped
	scratch  []byte // texts that functions rewrote for the current insertion
}

func (w *bodyWriter) writePieces(pieces []piece) {
	for _, p := range pieces {
		if w.exceeded {
			return
		}
		p.write(w)
		w.exceeded = w.exceeded || len(w.dst) > w.limit
	}
}

// literal is text of the template's author.
type literal []byte

func (l literal) write(w *bodyWriter) { w.dst = append(w.dst, l...) }

// insertion is a value, written by the rule of its place.
type insertion struct {
	value expression
	place context
}

func (i insertion) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	w.dst = i.place.insert(w.dst, i.value.value(w))
}

// choice is an if.
type choice struct {
	condition expression
	yes, no   []piece
}

func (c choice) write(w *bodyWriter) {
	w.scratch = w.scratch[:0]
	if isTrue(c.condition.value(w)) {
		w.writePieces(c.yes)
	} else {
		w.writePieces(c.no)
	}
}

// isTrue returns an if's condition: every known value except false is true.
func isTrue(v market.Value) bool {
	return v.Kind != market.KindAbsent && !(v.Kind == market.KindBoolean && string(v.Text) == "false")
}

// expression returns a value: a constant, a field, a header word, or a function's result.
type expression interface {
	value(w *bodyWriter) market.Value
}

type constant market.Value

func (c constant) value(*bodyWriter) market.Value { return market.Value(c) }

type field string

func (f field) value(w *bodyWriter) market.Value { return w.view.field(string(f)) }

type headerValue struct{ word headerWord }

func (s headerValue) value(w *bodyWriter) market.Value { return s.word.value(&w.view) }

type call struct {
	function  *function
	arguments []expression
}

func (c call) value(w *bodyWriter) market.Value {
	var room [8]market.Value
	arguments := room[:0]
	for _, a := range c.arguments {
		arguments = append(arguments, a.value(w))
	}
	return c.function.apply(w, arguments)
}
