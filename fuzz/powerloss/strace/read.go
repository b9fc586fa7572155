package strace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	cutOff  = " <unfinished ...>"
	dropped = " <detached ...>" // its thread was killed while the line was written
	resumes = "<... "
	noError = " (errno " // in place of an error's name: there is no such error
)

// reading is what was read of a record so far.
type reading struct {
	calls []*Call
	open  map[string]*Call // by thread
	text  map[*Call]string // of those that are open
	last  map[string]*Call // by thread
}

// Read reads a record to its end. Its calls are in the order in which they
// began; ticks start behind the one given, and last is the last of them.
func Read(from io.Reader, after int) (calls []*Call, last int, err error) {
	r := &reading{open: map[string]*Call{}, text: map[*Call]string{}, last: map[string]*Call{}}
	lines := bufio.NewReaderSize(from, 1<<20)
	last = after
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			last += 2
			if err := r.take(line, last); err != nil {
				return nil, last, fmt.Errorf("line %.200q: %w", line, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, last, err
		}
	}
	for _, c := range r.open {
		if err := c.parse(r.text[c]); err != nil && !c.Torn {
			return nil, last, err
		}
	}
	for _, c := range r.last {
		c.doubt()
	}
	return r.calls, last + 1, nil
}

// take reads a line, whose call begins at tick and, where it is whole, has
// happened at the one behind it.
func (r *reading) take(line string, tick int) error {
	thread, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	begun, torn := strings.CutSuffix(rest, dropped)
	if torn {
		if strings.HasPrefix(rest, resumes) {
			return nil // it stays open
		}
		rest = begun + cutOff
	}
	switch {
	case strings.HasPrefix(rest, "+++ "), strings.HasPrefix(rest, "--- "):
		return nil // a thread's end, a signal
	case strings.HasPrefix(rest, resumes):
		c := r.open[thread]
		if c == nil {
			return errors.New("a call goes on that never began")
		}
		_, behind, _ := strings.Cut(rest, " resumed>")
		whole := r.text[c] + behind
		delete(r.open, thread)
		delete(r.text, c)
		c.Done = tick
		return c.finish(whole)
	}
	c := &Call{Enter: tick, Done: Never, Torn: torn}
	r.calls, r.last[thread] = append(r.calls, c), c
	if begun, unfinished := strings.CutSuffix(rest, cutOff); unfinished {
		r.open[thread], r.text[c] = c, begun
		c.Name, _, _ = strings.Cut(begun, "(")
		return nil
	}
	c.Done = tick + 1
	return c.finish(rest)
}

// doubt takes back the end of a write whose result is not what it wrote, where it is
// its thread's last call. The tracer may not have been able to read a result any more,
// and have written down a number that it had from another thread.
func (c *Call) doubt() {
	size, known := c.Number(2)
	if (c.Name == "write" || c.Name == "pwrite64") && c.Done != Never && c.Result >= 0 && known && size != c.Result {
		c.Done, c.Result = Never, -1
	}
}

// finish reads name(arguments) = result.
func (c *Call) finish(whole string) error {
	at := strings.LastIndex(whole, "= ")
	if at < 0 {
		return errors.New("a call without a result")
	}
	if err := c.parse(strings.TrimSpace(whole[:at])); err != nil {
		return err
	}
	word := whole[at+2:]
	if end := strings.IndexAny(word, " <"); end >= 0 {
		word = word[:end]
	}
	if word == "?" || strings.Contains(whole[at:], noError) {
		c.Result = -1
		if !strings.Contains(whole[at:], "ERESTART") {
			c.Done = Never // its process was killed
		}
		return nil
	}
	result, err := strconv.ParseInt(word, 0, 64)
	c.Result = result
	return err
}

func (c *Call) parse(whole string) error {
	name, args, ok := strings.Cut(whole, "(")
	if !ok {
		return errors.New("no call")
	}
	args = strings.TrimSuffix(strings.TrimSuffix(args, ")"), cutOff) // both, of a thread that was killed
	c.Name, c.Args = name, strings.Split(args, ", ")
	for i := range c.Args {
		c.Args[i] = strings.TrimSpace(c.Args[i])
	}
	return nil
}
