package dial

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

var errUnasked = errors.New("something came that nobody asked for")

// wire is the bare connection, below TLS. It counts what the network was given,
// in the only place where that is certain: TLS seals a record, sends a part of
// it, and reports that nothing was written. What TLS sends of its own is
// counted with it, which errs towards "may have arrived".
type wire struct {
	net.Conn
	given   int64 // bytes
	dry     bool  // reads take what is there and wait for nothing
	stirred bool  // a dry one found something

	// How a look is taken at the socket: kept, since each look would otherwise
	// make them anew. Raw is nil for what is no socket.
	raw  syscall.RawConn
	look func(descriptor uintptr)
	came bool // what the last look saw

	turn turn
}

func newWire(conn net.Conn) *wire {
	w := &wire{Conn: conn}
	if socket, ok := conn.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			w.raw = raw
		}
	}
	w.look = func(descriptor uintptr) { w.came = peek(descriptor) }
	w.turn.step = w.take
	return w
}

// Read of a dry wire takes nothing where nothing is.
func (w *wire) Read(p []byte) (int, error) {
	if !w.dry {
		return w.Conn.Read(p)
	}
	if !w.pending() {
		return 0, os.ErrDeadlineExceeded
	}
	w.stirred = true
	if err := w.SetReadDeadline(time.Now().Add(moment)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// moment is longer than it takes to read what is there.
const moment = time.Millisecond

// pending tells whether a byte or the end of the connection has come. One that
// is no socket, or that cannot be looked at, counts as quiet: reading will tell.
func (w *wire) pending() bool {
	if w.raw == nil {
		return false
	}
	w.came = false
	return w.raw.Control(w.look) == nil && w.came
}

// ask writes the request of a line that is begun. Errors are errUnasked, where
// the line was kept and something lies on it already: nothing was sent then; or
// of the network.
func (l *line) ask(request []byte, kept bool) error {
	if net.Conn(l.wire) == l.Conn && l.wire.raw != nil && pushes {
		err := l.wire.ask(request, kept)
		if errors.Is(err, errUnasked) {
			l.spoiled()
		}
		return err
	}
	if kept && l.spoiled() {
		return errUnasked
	}
	_, err := l.Conn.Write(request)
	return err
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
	open *atomic.Int64 // the dialer's count, of which it is one until it is closed; nil: of nobody's

	first, last time.Time // deadlines that the one given serves for; last is that one itself

	probe [32]byte
	words bool // what lay on it before a request was said by somebody, and no farewell
	kept  bool // it has carried a request before

	unused time.Duration // since when, by the clock of Hosts, where it is kept

	mark  int64 // what the wire had been given when the present one began
	heard int64 // bytes of answer to the present one
}

// begin starts a request, and tells whether the line was kept from another.
func (l *line) begin() (kept bool) {
	kept = l.kept
	l.kept, l.mark, l.heard = true, l.wire.given, 0
	return kept
}

// spoiled tells whether something lies on the line before a request: it would
// be taken for the answer. The reading goes through TLS, since that may have
// taken more from the wire than the answer before; with the wire dry it ends
// there, in a way that TLS takes for a timeout and survives.
//
// What comes between this look and the answer is not seen. HTTP/1.1 has no way
// to: see host.
//
// A line that is spoiled is used no more. Servers that end an idle connection with a
// 408 (RFC 9110, 15.5.9) say farewell by it, and answer nothing twice.
func (l *line) spoiled() bool {
	l.wire.dry, l.wire.stirred = true, false
	n, err := l.Conn.Read(l.probe[:])
	l.wire.dry = false
	l.words = saysMore(l.probe[:n])
	return n > 0 || l.wire.stirred || !errors.Is(err, os.ErrDeadlineExceeded)
}

// saysMore tells whether what came without being asked for is (the beginning of) an
// answer, and neither a farewell nor an end of line too many.
func saysMore(text []byte) bool {
	return len(bytes.TrimSpace(text)) > 0 && !bytes.Contains(text, []byte(" 408 "))
}

// until gives the line a deadline, for reading and writing. For a ping it is
// given a little late, by a sixteenth of the time at most and by lateness, so
// that it serves for the pings that follow as well: each costs two changes of
// the runtime's timers. It never comes early. Nothing of an auction hangs on it:
// what a ping brings after the deadline is not heard.
func (l *line) until(deadline time.Time, ping bool) error {
	last := deadline
	if ping {
		if !deadline.Before(l.first) && !deadline.After(l.last) {
			return nil
		}
		last = deadline.Add(min(max(0, time.Until(deadline)/16), lateness))
	}
	l.first, l.last = deadline, last
	return l.SetDeadline(last)
}

// lateness bounds how late a ping's deadline is given.
const lateness = time.Second

// sent tells whether a byte of the present request may be on its way.
func (l *line) sent() bool { return l.wire.given > l.mark }

// answered tells whether a byte of an answer to it has come.
func (l *line) answered() bool { return l.heard > 0 }

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.heard += int64(n)
	return n, err
}

// Close is called once: the pool gives up whom it closes.
func (l *line) Close() error {
	if l.open != nil {
		l.open.Add(-1)
	}
	return l.Conn.Close()
}
