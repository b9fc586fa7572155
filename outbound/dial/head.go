package dial

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
)

// errTwoLengths rejects an answer with both a Content-Length and chunks, because it is
// ambiguous where such a body ends.
var errTwoLengths = errors.New("the endpoint's answer has both a Content-Length and chunks")

// errStatus rejects an answer that is not HTTP/1 or has an invalid status.
var errStatus = errors.New("the endpoint's answer has no valid HTTP/1 status line")

// hasValidStatusLine reports whether a head of waitAndPeekCompleteHead, which begins with "HTTP/1.",
// goes on with a digit and a status from 100 to 999. The exchange checks this itself, because fasthttp
// accepts any version and any number, and reads 0 as 200.
func hasValidStatusLine(head []byte) bool {
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

// waitAndPeekCompleteHead waits until the complete head of an answer has arrived, and returns it
// without consuming it. It returns nil if no valid head arrives. The following read then returns the
// error, or hasValidStatusLine rejects the answer. The slice is valid until that read.
//
// The caller needs the raw head, because fasthttp's parsed header drops the Content-Length of a
// chunked answer.
func waitAndPeekCompleteHead(reader *bufio.Reader) (headOrNil []byte) {
	for n := 1; ; n = reader.Buffered() + 1 {
		if _, err := reader.Peek(n); err != nil {
			return nil
		}
		received, _ := reader.Peek(reader.Buffered())
		if !bytes.HasPrefix(received, httpVersion1[:min(len(httpVersion1), len(received))]) {
			return nil
		}
		for _, end := range headEnds {
			if at := bytes.Index(received, end); at >= 0 {
				return received[:at]
			}
		}
	}
}

var (
	httpVersion1  = []byte("HTTP/1.")
	headEnds      = [...][]byte{[]byte("\n\r\n"), []byte("\n\n")}
	contentLength = []byte("content-length")
)

// hasContentLength reports whether a head contains a Content-Length header.
func hasContentLength(head []byte) bool {
	for line := range bytes.Lines(head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(bytes.TrimSpace(name), contentLength) {
			return true
		}
	}
	return false
}
