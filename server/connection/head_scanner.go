package connection

import (
	"bytes"
	"errors"
	"net"

	"github.com/valyala/fasthttp"
)

// bareLineFeedScanner finds bare line feeds in the request heads of a connection. The library
// accepts them as line ends. A proxy that does not would see other requests.
//
// The library keeps the header lines as they came, and request.CheckHead scans those. But
// it drops the line end of the request line, and it waits for more input while a head has
// no CR LF CR LF. So bareLineFeedScanner watches the bytes for both on their way to the library.
// Rejected: a reader of our own before the library's, which would also have to find the end
// of each body.
type bareLineFeedScanner struct {
	tail [requestLineEnd]byte // the last bytes received
	idle bool                 // the next bytes begin a head
	head bool                 // the next bytes continue that head
	bare bool                 // that head has a bare line feed

	// Hashes of the ends of request lines that came with a bare line feed since the
	// connection was idle, as a bit set. A body can set bits too: a request is rejected
	// only if a line that ended like its own request line came over its connection.
	lines uint64

	trailer lineFeedAfterLastChunkScanner
}

// requestLineEnd is the length of the shortest possible request line, "G / HTTP/1.1". Of a
// longer line only the last bytes, as many as this, are compared.
const requestLineEnd = len("G / HTTP/1.1")

var (
	httpVersion = []byte("HTTP/1.")

	ErrBareLineFeed = errors.New("a line of the request's head ends with a line feed without carriage return")
	ErrTrailer      = errors.New("a chunked request body has trailer fields, or ends with a line feed without carriage return")
)

// scan searches received bytes before the library gets them. Calls must pass all bytes of the
// connection in order.
func (l *bareLineFeedScanner) scan(received []byte) {
	if l.idle {
		l.idle, l.head, l.bare, l.lines, l.trailer.bare = false, true, false, 0, false
	}
	if l.head {
		l.scanHeadLines(received)
	}
	l.trailer.scan(received, l.tail[requestLineEnd-1])
	var seam [2 * requestLineEnd]byte // a line may come in two pieces
	n := copy(seam[:], l.tail[:])
	n += copy(seam[n:], received)
	l.recordBareRequestLineEnds(seam[:n])
	l.recordBareRequestLineEnds(received)
	if len(received) < requestLineEnd {
		received = seam[:n]
	}
	copy(l.tail[:], received[len(received)-requestLineEnd:])
}

// scanHeadLines searches the bytes p, which continue a request's head, for a line that ends in LF
// without CR. It stops at the empty line after the head.
func (l *bareLineFeedScanner) scanHeadLines(p []byte) {
	for at := 0; l.head; at++ {
		next := bytes.IndexByte(p[at:], '\n')
		if next < 0 {
			return
		}
		at += next
		switch {
		case l.receivedByteBefore(p, at, 1) != '\r':
			l.head, l.bare = false, true
		case l.receivedByteBefore(p, at, 2) == '\n':
			l.head = false
		}
	}
}

// receivedByteBefore returns the byte that was received bytesBack bytes before received[index], which may
// be in an earlier piece.
func (l *bareLineFeedScanner) receivedByteBefore(received []byte, index, bytesBack int) byte {
	if index >= bytesBack {
		return received[index-bytesBack]
	}
	return l.tail[requestLineEnd+index-bytesBack]
}

// recordBareRequestLineEnds searches received for lines that end in an HTTP version and LF without CR, as
// a request line could. It records a hash of each in l.lines.
func (l *bareLineFeedScanner) recordBareRequestLineEnds(received []byte) {
	for end := 0; ; {
		at := bytes.Index(received[end:], httpVersion)
		if at < 0 {
			return
		}
		end += at + len(httpVersion)
		if line := end + 1; line < len(received) && received[line] == '\n' && line >= requestLineEnd {
			l.lines |= lineEndHashBit(received[line-requestLineEnd : line])
		}
	}
}

// lineEndHashBit returns a word with one bit set, which depends on the last bytes of a request line.
func lineEndHashBit(lineEnd []byte) uint64 {
	var sum byte
	for _, c := range lineEnd {
		sum = 31*sum + c
	}
	return 1 << (sum % 64)
}

// mayHaveBareLineFeed reports whether a line of the request's head ends, or may end, in LF without CR.
// It covers the line ends that the library drops. A line in a body that ends like the request line
// causes a false alarm.
func (l *bareLineFeedScanner) mayHaveBareLineFeed(header *fasthttp.RequestHeader) bool {
	if l.bare || l.lines == 0 {
		return l.bare
	}
	line := append(append(append([]byte(nil), header.Method()...), ' '), header.RequestURI()...)
	line = append(append(line, ' '), header.Protocol()...)
	return len(line) < requestLineEnd || l.lines&lineEndHashBit(line[len(line)-requestLineEnd:]) != 0
}

// UpdateHeadScannerOnStateChange is the library's callback for changes of a connection's state. When a
// connection becomes idle, it tells the connection's bareLineFeedScanner that the next received
// bytes begin the head of a request. If the library had already read the beginning of that request
// from the connection, UpdateHeadScannerOnStateChange takes this back when the request becomes active.
func UpdateHeadScannerOnStateChange(conn net.Conn, state fasthttp.ConnState) {
	if g := unwrapConn(conn); g != nil && (state == fasthttp.StateIdle || state == fasthttp.StateActive && g.received.Load()) {
		g.head.idle = state == fasthttp.StateIdle
	}
}
