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
)

// Read reads a record to its end. Its calls are in the order in which they
// began; ticks start behind the one given, and last is the last of them.
func Read(from io.Reader, after int) (calls []*Call, last int, err error) {
	open := map[string]*Call{} // by thread
	text := map[*Call]string{} // of those that are open
	lines := bufio.NewReaderSize(from, 1<<20)
	last = after
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			last += 2
			if err := take(line, last, open, text, &calls); err != nil {
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
	for _, c := range open {
		if err := c.parse(text[c]); err != nil && !c.Torn {
			return nil, last, err
		}
	}
	return calls, last + 1, nil
}

// take reads a line, whose call begins at tick and, where it is whole, has
// happened at the one behind it.
func take(line string, tick int, open map[string]*Call, text map[*Call]string, calls *[]*Call) error {
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
		c := open[thread]
		if c == nil {
			return errors.New("a call goes on that never began")
		}
		_, behind, _ := strings.Cut(rest, " resumed>")
		delete(open, thread)
		whole := text[c] + behind
		delete(text, c)
		c.Done = tick
		return c.finish(whole)
	}
	c := &Call{Enter: tick, Done: Never, Torn: torn}
	*calls = append(*calls, c)
	if begun, unfinished := strings.CutSuffix(rest, cutOff); unfinished {
		open[thread], text[c] = c, begun
		c.Name, _, _ = strings.Cut(begun, "(")
		return nil
	}
	c.Done = tick + 1
	return c.finish(rest)
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
	if word == "?" {
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
