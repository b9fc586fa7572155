package dial

import (
	"bufio"
	"bytes"
	"errors"
)

// errLengths is of an answer with a length beside chunks. Where it ends can be
// read in two ways, and so what of it is the answer.
var errLengths = errors.New("the answer's end is given in two ways")

// wholeHead waits until the head of an answer is in the reader's buffer, and gives
// it as it came; the reader stands before it still. Nil: it will not come, or is
// none, and reading it tells why. What is given is good until the reader is read
// past it: its parsed form has no length where there are chunks.
func wholeHead(reader *bufio.Reader) []byte {
	for n := 1; ; n = reader.Buffered() + 1 {
		if _, err := reader.Peek(n); err != nil {
			return nil
		}
		came, _ := reader.Peek(reader.Buffered())
		if !bytes.HasPrefix(came, httpOne[:min(len(httpOne), len(came))]) {
			return nil
		}
		for _, end := range headEnds {
			if at := bytes.Index(came, end); at >= 0 {
				return came[:at]
			}
		}
	}
}

var (
	httpOne  = []byte("HTTP/1.")
	headEnds = [...][]byte{[]byte("\n\r\n"), []byte("\n\n")}
	lengthIs = []byte("content-length")
)

// givesLength tells whether one of the head's lines gives the body's length.
func givesLength(head []byte) bool {
	for line := range bytes.Lines(head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(bytes.TrimSpace(name), lengthIs) {
			return true
		}
	}
	return false
}
