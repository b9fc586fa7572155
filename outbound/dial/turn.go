package dial

// turn is a request on its way over a bare socket: a look at what lies there,
// the request itself, and the wait for an answer's first byte, all inside one
// read of the socket as the runtime knows it.
//
// An ordinary read asks the kernel before it waits, and for an answer that is
// asked in vain each time. Here the one call that finds nothing is the look,
// which has to be taken anyway, and a ping costs one call less.
//
// What must always hold: the wait begins only after a call that found nothing to
// read, and that call comes after the runtime has cleared what it knew of the
// socket. So whatever comes from the look on wakes the wait. That order is the
// raw read's own: it clears, then calls step, then waits.
type turn struct {
	step  func(descriptor uintptr) (done bool) // kept: making it anew would cost memory
	rest  []byte                               // of the request, that is not written yet
	begun bool
	kept  bool // the line has carried a request before: look first
	err   error
}

// ask writes a request, and returns when an answer begins, the deadline has
// passed or the connection has failed; reading tells which. The error is of
// looking or writing: see line.ask.
func (w *wire) ask(request []byte, kept bool) error {
	t := &w.turn
	t.rest, t.begun, t.kept, t.err = request, false, kept, nil
	err := w.raw.Read(t.step)
	rest := t.rest
	t.rest = nil
	switch {
	case t.err != nil:
		return t.err
	case !t.begun:
		return err
	case len(rest) > 0:
		_, err = w.Write(rest)
		return err
	}
	return nil
}

// take is the turn's step: called once before the wait, and once after.
func (w *wire) take(descriptor uintptr) (done bool) {
	t := &w.turn
	if t.begun {
		return true
	}
	t.begun = true
	if t.kept && peek(descriptor) {
		t.err = errUnasked
		return true
	}
	n, err := push(descriptor, t.rest)
	w.given += int64(n)
	t.rest, t.err = t.rest[n:], err
	return err != nil || len(t.rest) > 0
}
