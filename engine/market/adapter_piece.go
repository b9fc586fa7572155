package market

// piece is a part of a compiled template. Its kinds are literal, insertion and
// choice.
type piece interface{ write(w *writing) }

// writing is one body on its way.
type writing struct {
	view    view
	dst     []byte
	limit   int    // of dst, in bytes
	over    bool   // it would have been more; nothing is written from then on
	scratch []byte // what functions had to rewrite for the present insertion
}

func (w *writing) all(pieces []piece) {
	for _, p := range pieces {
		if w.over {
			return
		}
		p.write(w)
		w.over = w.over || len(w.dst) > w.limit
	}
}

// literal is text of the template's author.
type literal []byte

func (l literal) write(w *writing) { w.dst = append(w.dst, l...) }

// insertion is a value, written by the rule of the place where it stands.
type insertion struct {
	value expression
	place context
}

func (i insertion) write(w *writing) {
	w.scratch = w.scratch[:0]
	w.dst = i.place.insert(w.dst, i.value.value(w))
}

// choice is an if.
type choice struct {
	condition expression
	yes, no   []piece
}

func (c choice) write(w *writing) {
	w.scratch = w.scratch[:0]
	if holds(c.condition.value(w)) {
		w.all(c.yes)
	} else {
		w.all(c.no)
	}
}

// holds tells what an if makes of a value: all that is known is true, but for
// false itself.
func holds(v Value) bool {
	return v.Kind != KindAbsent && !(v.Kind == KindBoolean && string(v.Text) == "false")
}

// expression is what gives a value: a constant, a field, a word of the head, or
// a call of a function.
type expression interface{ value(w *writing) Value }

type constant Value

func (c constant) value(*writing) Value { return Value(c) }

type field string

func (f field) value(w *writing) Value { return w.view.field(string(f)) }

type said struct{ word headWord }

func (s said) value(w *writing) Value { return s.word.of(&w.view) }

type call struct {
	function  *function
	arguments []expression
}

func (c call) value(w *writing) Value {
	var room [8]Value
	arguments := room[:0]
	for _, a := range c.arguments {
		arguments = append(arguments, a.value(w))
	}
	return c.function.apply(w, arguments)
}
