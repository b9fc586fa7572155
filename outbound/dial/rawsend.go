package dial

// rawSendState is the state of one request on a bare socket. One raw read of the socket does
// all three steps: it checks for unexpected data, writes the request, and waits for the
// answer's first byte.
//
// An ordinary read calls the kernel before it waits, and for an answer that first call
// always finds no data. Here that call is the check for unexpected data, which is
// necessary anyway, so a ping needs one system call less.
//
// Invariant: the wait begins only after a call that found no data, and the runtime cleared
// the socket's readiness before that call. So any data that arrives after the check ends
// the wait. The raw read guarantees this order: it clears, calls step, and waits.
type rawSendState struct {
	step      func(descriptor uintptr) (done bool) // stored, because a new closure would allocate
	unsent    []byte                               // rest of the request
	started   bool
	peekFirst bool // the connection is reused, so check for unexpected data
	err       error
}

// sendAndWaitForFirstByte writes a request to the socket. It returns when the first byte of an answer
// arrives, the deadline passes or the connection fails; the following read tells these apart. If the
// socket does not accept the whole request at once, it writes the rest and does not wait for the
// answer. With checkUnexpectedFirst it first checks for unexpected data. Errors are those of
// outboundConn.checkIfReusedAndSendRequest.
func (w *socketConn) sendAndWaitForFirstByte(request []byte, checkUnexpectedFirst bool) error {
	t := &w.sending
	t.unsent, t.started, t.peekFirst, t.err = request, false, checkUnexpectedFirst, nil
	err := w.raw.Read(t.step)
	unsent := t.unsent
	t.unsent = nil
	switch {
	case t.err != nil:
		return t.err
	case !t.started:
		return err
	case len(unsent) > 0:
		_, err = w.Write(unsent)
		return err
	}
	return nil
}

// sendStep does the work inside the raw read of the socket: it checks for unexpected data and
// writes the request. The Go runtime calls it before it waits for data, and again after the
// wait. It returns true when the raw read is done.
func (w *socketConn) sendStep(descriptor uintptr) (rawReadDone bool) {
	t := &w.sending
	if t.started {
		return true
	}
	t.started = true
	if t.peekFirst && hasInputOrEnd(descriptor) {
		t.err = errUnexpectedDataOrEnd
		return true
	}
	n, err := writeRaw(descriptor, t.unsent)
	w.sentBytes += int64(n)
	t.unsent, t.err = t.unsent[n:], err
	return err != nil || len(t.unsent) > 0
}
