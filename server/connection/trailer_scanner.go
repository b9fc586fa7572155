package connection

import (
	"bytes"
)

// lineFeedAfterLastChunkScanner finds a last chunk that a bare line feed follows in place of CR LF. The
// library accepts that line feed as the end of the trailer. A proxy that does not would see
// other requests.
//
// The library does not report where a body ends on the connection. So lineFeedAfterLastChunkScanner scans
// each line, and a chunked body is rejected if such lines came with it. The text of the
// body can contain them too: "0", CR LF, LF. Rejected: a chunk reader of our own, as for
// bareLineFeedScanner.
type lineFeedAfterLastChunkScanner struct {
	line chunkLineState // the line that the next bytes continue
	last bool           // the line before it ended a last chunk
	bare bool           // a bare line feed followed a last chunk since the connection was idle
}

// chunkLineState says whether the line read so far can be the size line of a chunked body's last
// chunk.
type chunkLineState uint8

const (
	lineEmpty chunkLineState = iota // no byte of the line so far
	lineZeros                       // only zeros
	lineLast                        // zeros, then a byte that is not a hexadecimal digit
	lineOther
)

// scan searches received bytes before the library gets them. previousByte is the byte that was
// received directly before them.
func (l *lineFeedAfterLastChunkScanner) scan(received []byte, previousByte byte) {
	for at := 0; at < len(received); at++ {
		switch c := received[at]; {
		case l.line >= lineLast:
			next := bytes.IndexByte(received[at:], '\n')
			if next < 0 {
				return
			}
			if at += next; at > 0 {
				previousByte = received[at-1]
			}
			l.last, l.line = l.line == lineLast && previousByte == '\r', lineEmpty
		case c == '\n':
			l.bare = l.bare || l.last && l.line == lineEmpty
			l.last, l.line = false, lineEmpty
		case c == '0':
			l.line = lineZeros
		case l.line == lineZeros && !isHexDigit(c):
			l.line = lineLast
		default:
			l.line = lineOther
		}
	}
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
