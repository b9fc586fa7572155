package buyer

import "net"

// wire is the bare connection, below TLS. It counts what the network was given,
// in the only place where that is certain: TLS seals a record, sends a part of
// it, and reports that nothing was written. What TLS sends of its own is
// counted with it, which errs towards "may have arrived".
type wire struct {
	net.Conn
	given int64 // bytes
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.given += int64(n)
	return n, err
}

// line is a connection ready for requests: the wire itself, or TLS over it. It
// belongs to whoever holds it; the pool's lock hands it over, and it has none.
type line struct {
	net.Conn
	wire *wire

	kept  bool  // it has carried a request before
	mark  int64 // what the wire had been given when the present one began
	heard int64 // bytes of answer to the present one
}

// begin starts a request, and tells whether the line was kept from another.
func (l *line) begin() (kept bool) {
	kept = l.kept
	l.kept, l.mark, l.heard = true, l.wire.given, 0
	return kept
}

// sent tells whether a byte of the present request may be on its way.
func (l *line) sent() bool { return l.wire.given > l.mark }

// answered tells whether a byte of an answer to it has come.
func (l *line) answered() bool { return l.heard > 0 }

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.heard += int64(n)
	return n, err
}
