package strace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
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
	start      time.Time        // of the ticks; zero: they count lines
	lastTick   int
}

// ReadRecord reads a whole record. It returns the calls in the order of their starts. Ticks start
// after afterTick and end with lastTick.
func ReadRecord(from io.Reader, afterTick int) (calls []*Call, lastTick int, err error) {
	return readTicks(from, afterTick, time.Time{})
}

// ReadTimedRecord reads a whole record whose ticks are nanoseconds since start. So the ticks of several
// processes on one machine are comparable.
func ReadTimedRecord(from io.Reader, start time.Time) (calls []*Call, lastTick int, err error) {
	return readTicks(from, 0, start)
}

func readTicks(from io.Reader, afterTick int, start time.Time) (calls []*Call, lastTick int, err error) {
	r := &recordReader{unfinished: map[string]*Call{}, text: map[*Call]string{}, last: map[string]*Call{}, start: start, lastTick: afterTick}
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			if err := r.readLine(line); err != nil {
				return nil, r.lastTick, fmt.Errorf("line %.200q: %w", line, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, r.lastTick, err
		}
	}
	for _, c := range r.unfinished {
		if err := c.parseCall(r.text[c]); err != nil && !c.Torn {
			return nil, r.lastTick, err
		}
	}
	for _, c := range r.last {
		c.distrustResult()
	}
	return r.calls, r.lastTick + 1, nil
}

// nextTick returns the tick of a line, and the line without its time. The order of the lines is exact, so
// ticks rise even if times do not.
func (r *recordReader) nextTick(line string) (tick int, rest string, err error) {
	tick = r.lastTick + 2
	if line == "" || line[0] < '0' || line[0] > '9' {
		return tick, line, nil // recorded without times
	}
	text, rest, _ := strings.Cut(line, " ")
	if r.start.IsZero() {
		return tick, rest, nil
	}
	seconds, fraction, _ := strings.Cut(text, ".")
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	ns, err2 := strconv.ParseInt(fraction, 10, 64)
	if err := errors.Join(err1, err2); err != nil || len(fraction) != 9 {
		return 0, "", fmt.Errorf("%q is not a time in nanoseconds: %w", text, err)
	}
	return max(tick, int(time.Unix(s, ns).Sub(r.start))), rest, nil
}

// duration returns the time that a complete line's call took, in ticks; at least 1.
func (r *recordReader) duration(line string) int {
	at := strings.LastIndexByte(line, '<')
	if r.start.IsZero() || at < 0 {
		return 1
	}
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(line[at+1:], ">"), 64)
	if err != nil {
		return 1
	}
	return max(1, int(seconds*1e9))
}

// readLine reads a line. Its call starts at the line's tick and, if the line is complete, ends after it.
func (r *recordReader) readLine(line string) error {
	thread, rest, _ := strings.Cut(line, " ")
	tick, rest, err := r.nextTick(strings.TrimLeft(rest, " "))
	if err != nil {
		return err
	}
	r.lastTick = tick
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
	c.Done = tick + r.duration(rest)
	r.lastTick = c.Done - 1
	return c.parseFinishedLine(rest)
}

// distrustResult marks the call as unfinished if its result is not that of a success. Call it for a thread's last
// call only. strace may have been unable to read the result of a killed thread, and may have recorded that of another
// thread. The folder then shows whether the call had an effect.
func (c *Call) distrustResult() {
	if c.Done == Never {
		return
	}
	expected := int64(0)
	switch c.Name {
	case "write", "pwrite64":
		size, known := c.NumberArg(2)
		if !known {
			return
		}
		expected = size
	case "ftruncate", "fallocate", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat":
	default:
		return
	}
	if c.Result != expected {
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
