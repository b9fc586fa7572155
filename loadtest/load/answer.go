package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Answer is a response. Its contents are valid until the next response of the connection.
type Answer struct {
	Status int
	Body   []byte
	lines  []byte // header lines
}

// Header returns the value of a header, or nil.
func (a *Answer) Header(name string) []byte {
	for rest := a.lines; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, lineEnd)
		if title, value, _ := bytes.Cut(line, []byte{':'}); bytes.EqualFold(title, []byte(name)) {
			return bytes.TrimSpace(value)
		}
	}
	return nil
}

// maxAnswer is the highest size of a response, headers included.
const maxAnswer = 1 << 20

var (
	errTooLong    = errors.New("an answer of over 1 MB")
	errNoLength   = errors.New("an answer without Content-Length")
	errNoResponse = errors.New("an answer that is not HTTP/1.1")
)

// answerReader reads responses into one buffer. Each response must have a Content-Length,
// and the server must not send more data before the next request.
type answerReader struct {
	from io.Reader
	buf  []byte
}

func (r *answerReader) read() (Answer, error) {
	if r.buf == nil {
		r.buf = make([]byte, 4<<10)
	}
	filled := 0
	for {
		if filled == len(r.buf) {
			if filled >= maxAnswer {
				return Answer{}, errTooLong
			}
			r.buf = append(r.buf, make([]byte, filled)...)
		}
		n, err := r.from.Read(r.buf[filled:])
		filled += n
		answer, complete, parseErr := parseAnswer(r.buf[:filled])
		switch {
		case parseErr != nil:
			return Answer{}, parseErr
		case complete:
			return answer, nil
		case err != nil:
			return Answer{}, fmt.Errorf("no answer: %w", err)
		}
	}
}

var (
	headEnd = []byte("\r\n\r\n")
	lineEnd = []byte("\r\n")
	version = []byte("HTTP/1.1 ")
	length  = []byte("content-length")
)

// parseAnswer parses the data received so far. complete is false while data is missing.
func parseAnswer(data []byte) (a Answer, complete bool, err error) {
	head, body, ended := bytes.Cut(data, headEnd)
	if !ended {
		return a, false, nil
	}
	status, lines, _ := bytes.Cut(head, lineEnd)
	if !bytes.HasPrefix(status, version) || len(status) < len(version)+3 {
		return a, false, errNoResponse
	}
	if a.Status, err = strconv.Atoi(string(status[len(version) : len(version)+3])); err != nil {
		return a, false, errNoResponse
	}
	size := -1
	a.lines = lines
	for len(lines) > 0 && size < 0 {
		var line []byte
		line, lines, _ = bytes.Cut(lines, lineEnd)
		name, value, _ := bytes.Cut(line, []byte{':'})
		if bytes.EqualFold(name, length) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || size < 0 {
				return a, false, errNoLength
			}
		}
	}
	if size < 0 {
		return a, false, errNoLength
	}
	if len(body) < size {
		return a, false, nil
	}
	a.Body = body[:size]
	return a, true, nil
}
