package dial

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
)

// errLengths is of an answer with a length beside chunks. Where it ends can be
// read in two ways, and so what of it is the answer.
var errLengths = errors.New("the answer's end is given in two ways")

// errStatus is of an answer that is not HTTP/1's, or has a status that is none.
var errStatus = errors.New("the answer has no status of HTTP/1")

// isStatus tells whether a head begins as an answer's does: with a version of HTTP/1
// and a status of three digits, from 100 on. fasthttp takes any version, any number,
// and zero for 200.
func isStatus(head []byte) bool {
	const line = "HTTP/1.1 200"
	if len(head) < len(line) || head[len(line)-4] != ' ' || head[len(line)-3] == '0' {
		return false
	}
	for _, at := range [...]int{len(line) - 5, len(line) - 3, len(line) - 2, len(line) - 1} {
		if head[at] < '0' || head[at] > '9' {
			return false
		}
	}
	return len(head) == len(line) || strings.IndexByte(" \r\n", head[len(line)]) >= 0
}

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
