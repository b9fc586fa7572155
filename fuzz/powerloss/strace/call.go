package strace

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Never is the end of a call that was interrupted by SIGKILL.
const Never = math.MaxInt

// Call is one recorded call. Ticks grow with the record, and each belongs to one call.
type Call struct {
	Name        string
	Args        []string // as recorded: see StringArg, NumberArg, Descriptor
	Result      int64    // negative: the call failed
	Enter, Done int      // ticks at which it started and ended
	// Torn reports that the thread was killed while strace recorded the call. strace could not
	// read the thread's registers then, so the record may show another call, or a call that
	// never happened.
	Torn bool
}

// StringArg returns a string argument.
func (c *Call) StringArg(arg int) ([]byte, error) {
	word, err := c.arg(arg)
	if err != nil {
		return nil, err
	}
	quoted, ok := strings.CutPrefix(word, `"`)
	quoted, closed := strings.CutSuffix(quoted, `"`)
	if !ok || !closed {
		return nil, fmt.Errorf("argument %d of %s is not a complete string: %.60s", arg, c.Name, word)
	}
	return unhex(quoted)
}

// SentBytes returns all bytes that a writing call sends.
func (c *Call) SentBytes() ([]byte, error) {
	if c.Name == "write" || c.Name == "sendto" {
		return c.StringArg(1)
	}
	var all []byte
	for _, word := range c.Args {
		_, word, ok := strings.Cut(word, "iov_base=\"")
		if !ok {
			continue
		}
		quoted, behind, _ := strings.Cut(word, `"`)
		if behind != "" && behind != "]" {
			return nil, fmt.Errorf("a buffer of %s is not complete", c.Name)
		}
		text, err := unhex(quoted)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}

// NumberArg returns a numeric argument; ok is false for NULL.
func (c *Call) NumberArg(arg int) (n int64, ok bool) {
	word, err := c.arg(arg)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(word, 0, 64)
	return n, err == nil
}

// HasFlag reports whether a flags argument contains the flag.
func (c *Call) HasFlag(arg int, flag string) bool {
	word, err := c.arg(arg)
	if err != nil {
		return false
	}
	for one := range strings.SplitSeq(word, "|") {
		if one == flag {
			return true
		}
	}
	return false
}

// Descriptor returns a descriptor argument and its path. The working directory is -1.
func (c *Call) Descriptor(arg int) (fd int, path string, err error) {
	word, err := c.arg(arg)
	if err != nil {
		return 0, "", err
	}
	number, rest, _ := strings.Cut(word, "<")
	if rest, _, _ = strings.Cut(rest, ">"); rest != "" {
		text, err := unhex(rest)
		if err != nil {
			return 0, "", err
		}
		path = string(text)
	}
	if number == "AT_FDCWD" {
		return -1, path, nil
	}
	fd, err = strconv.Atoi(number)
	return fd, path, err
}

func (c *Call) arg(n int) (string, error) {
	if n >= len(c.Args) {
		return "", fmt.Errorf("%s has %d arguments, argument %d is missing", c.Name, len(c.Args), n)
	}
	return c.Args[n], nil
}

// unhex decodes \x2f\x74 and so on.
func unhex(text string) ([]byte, error) {
	if len(text)%4 != 0 {
		return nil, fmt.Errorf("%.60q is not hexadecimal", text)
	}
	digits := make([]byte, 0, len(text)/2)
	for at := 0; at < len(text); at += 4 {
		if text[at] != '\\' || text[at+1] != 'x' {
			return nil, fmt.Errorf("%.60q is not hexadecimal", text[at:])
		}
		digits = append(digits, text[at+2], text[at+3])
	}
	n, err := hex.Decode(digits, digits)
	return digits[:n], err
}
