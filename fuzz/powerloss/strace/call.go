package strace

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Never is when a call ended that did not: its process was killed first.
const Never = math.MaxInt

// A Call is one call of a process, as it was written down. Ticks grow with the
// record; no two calls share one.
type Call struct {
	Name        string
	Args        []string // as written: see Text, Number, Descriptor
	Result      int64    // less than zero: it failed
	Enter, Done int      // ticks at which it began and had happened
	// Torn says that its thread was killed while it was written down. The tracer could
	// not read the thread's registers then, and what stands here may be another call,
	// or none.
	Torn bool
}

// Text is an argument that is a string or bytes.
func (c *Call) Text(arg int) ([]byte, error) {
	word, err := c.arg(arg)
	if err != nil {
		return nil, err
	}
	quoted, ok := strings.CutPrefix(word, `"`)
	quoted, closed := strings.CutSuffix(quoted, `"`)
	if !ok || !closed {
		return nil, fmt.Errorf("argument %d of %s is no whole string: %.60s", arg, c.Name, word)
	}
	return unhex(quoted)
}

// Sent is what a call that writes hands over, in one piece or in several.
func (c *Call) Sent() ([]byte, error) {
	if c.Name == "write" || c.Name == "sendto" {
		return c.Text(1)
	}
	var all []byte
	for _, word := range c.Args {
		_, word, ok := strings.Cut(word, "iov_base=\"")
		if !ok {
			continue
		}
		quoted, behind, _ := strings.Cut(word, `"`)
		if behind != "" && behind != "]" {
			return nil, fmt.Errorf("a part of what %s sends is not whole", c.Name)
		}
		text, err := unhex(quoted)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}

// Number is an argument that is a number; NULL is none.
func (c *Call) Number(arg int) (n int64, ok bool) {
	word, err := c.arg(arg)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(word, 0, 64)
	return n, err == nil
}

// Has tells whether an argument of flags names this one.
func (c *Call) Has(arg int, flag string) bool {
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

// Descriptor is an argument that is one, with the path that it is of. That of
// the working folder is less than zero.
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
		return "", fmt.Errorf("%s has %d arguments, and number %d was asked for", c.Name, len(c.Args), n)
	}
	return c.Args[n], nil
}

// unhex reads \x2f\x74 and so on.
func unhex(text string) ([]byte, error) {
	if len(text)%4 != 0 {
		return nil, fmt.Errorf("%.60q is not written in hexadecimal", text)
	}
	digits := make([]byte, 0, len(text)/2)
	for at := 0; at < len(text); at += 4 {
		if text[at] != '\\' || text[at+1] != 'x' {
			return nil, fmt.Errorf("%.60q is not written in hexadecimal", text[at:])
		}
		digits = append(digits, text[at+2], text[at+3])
	}
	n, err := hex.Decode(digits, digits)
	return digits[:n], err
}
