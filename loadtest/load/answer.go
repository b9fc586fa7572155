package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Answer is a response. What it refers to is good until the connection's next one.
type Answer struct {
	Status int
	Body   []byte
	lines  []byte // of the head
}

// Header is the value of a header of the answer, or nothing.
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

// maxAnswer bounds a response, headers and all.
const maxAnswer = 1 << 20

var (
	errTooLong    = errors.New("an answer of over 1 MB")
	errNoLength   = errors.New("an answer without Content-Length")
	errNoResponse = errors.New("an answer that is not HTTP/1.1")
)

// An answerReader reads responses one after the other, each with a
// Content-Length, into one buffer. Nothing may follow a response before the
// next request was sent.
type answerReader struct {
	from io.Reader
	buf  []byte
}

func (r *answerReader) next() (Answer, error) {
	if r.buf == nil {
		r.buf = make([]byte, 4<<10)
	}
	have := 0
	for {
		if have == len(r.buf) {
			if have >= maxAnswer {
				return Answer{}, errTooLong
			}
			r.buf = append(r.buf, make([]byte, have)...)
		}
		n, err := r.from.Read(r.buf[have:])
		have += n
		answer, whole, bad := parseAnswer(r.buf[:have])
		switch {
		case bad != nil:
			return Answer{}, bad
		case whole:
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

// parseAnswer reads what has come so far; not whole: more is to come.
func parseAnswer(data []byte) (a Answer, whole bool, err error) {
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
