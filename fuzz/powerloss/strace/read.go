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
	unfinishedMark = " <unfinished ...>"
	detachedMark   = " <detached ...>" // the thread was killed during the line
	resumedMark    = "<... "
	noError        = " (errno " // replaces the name of an unknown error
)

// recordReader is the state of reading a record.
type recordReader struct {
	calls      []*Call
	unfinished map[string]*Call // by thread
	text       map[*Call]string // first lines of unfinished calls
	last       map[string]*Call // by thread
}

// ReadRecord reads a whole record. It returns the calls in the order of their starts. Ticks start
// after afterTick and end with lastTick.
func ReadRecord(from io.Reader, afterTick int) (calls []*Call, lastTick int, err error) {
	r := &recordReader{unfinished: map[string]*Call{}, text: map[*Call]string{}, last: map[string]*Call{}}
	lines := bufio.NewReaderSize(from, 1<<20)
	lastTick = afterTick
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			lastTick += 2
			if err := r.readLine(line, lastTick); err != nil {
				return nil, lastTick, fmt.Errorf("line %.200q: %w", line, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, lastTick, err
		}
	}
	for _, c := range r.unfinished {
		if err := c.parseCall(r.text[c]); err != nil && !c.Torn {
			return nil, lastTick, err
		}
	}
	for _, c := range r.last {
		c.markUncertainWriteUnfinished()
	}
	return r.calls, lastTick + 1, nil
}

// readLine reads a line. Its call starts at tick and, if the line is complete, ends at the next
// tick.
func (r *recordReader) readLine(line string, tick int) error {
	thread, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	begun, torn := strings.CutSuffix(rest, detachedMark)
	if torn {
		if strings.HasPrefix(rest, resumedMark) {
			return nil // the call stays unfinished
		}
		rest = begun + unfinishedMark
	}
	switch {
	case strings.HasPrefix(rest, "+++ "), strings.HasPrefix(rest, "--- "):
		return nil // a thread's end or a signal
	case strings.HasPrefix(rest, resumedMark):
		c := r.unfinished[thread]
		if c == nil {
			return errors.New("a resumed line without a call")
		}
		_, behind, _ := strings.Cut(rest, " resumed>")
		whole := r.text[c] + behind
		delete(r.unfinished, thread)
		delete(r.text, c)
		c.Done = tick
		return c.parseFinishedLine(whole)
	}
	c := &Call{Enter: tick, Done: Never, Torn: torn}
	r.calls, r.last[thread] = append(r.calls, c), c
	if begun, unfinished := strings.CutSuffix(rest, unfinishedMark); unfinished {
		r.unfinished[thread], r.text[c] = c, begun
		c.Name, _, _ = strings.Cut(begun, "(")
		return nil
	}
	c.Done = tick + 1
	return c.parseFinishedLine(rest)
}

// markUncertainWriteUnfinished marks a thread's last call as unfinished if it is a write with an
// unexpected result. strace may have been unable to read the result of a killed thread, and may
// have recorded a number from another thread.
func (c *Call) markUncertainWriteUnfinished() {
	size, known := c.NumberArg(2)
	if (c.Name == "write" || c.Name == "pwrite64") && c.Done != Never && c.Result >= 0 && known && size != c.Result {
		c.Done, c.Result = Never, -1
	}
}

// parseFinishedLine parses "name(arguments) = result".
func (c *Call) parseFinishedLine(whole string) error {
	at := strings.LastIndex(whole, "= ")
	if at < 0 {
		return errors.New("the line has no result")
	}
	if err := c.parseCall(strings.TrimSpace(whole[:at])); err != nil {
		return err
	}
	word := whole[at+2:]
	if end := strings.IndexAny(word, " <"); end >= 0 {
		word = word[:end]
	}
	if word == "?" || strings.Contains(whole[at:], noError) {
		c.Result = -1
		if !strings.Contains(whole[at:], "ERESTART") {
			c.Done = Never // the process was killed
		}
		return nil
	}
	result, err := strconv.ParseInt(word, 0, 64)
	c.Result = result
	return err
}

func (c *Call) parseCall(whole string) error {
	name, args, ok := strings.Cut(whole, "(")
	if !ok {
		return errors.New("the line is not a call")
	}
	args = strings.TrimSuffix(strings.TrimSuffix(args, ")"), unfinishedMark) // a killed thread's line has both suffixes
	c.Name, c.Args = name, strings.Split(args, ", ")
	for i := range c.Args {
		c.Args[i] = strings.TrimSpace(c.Args[i])
	}
	return nil
}
