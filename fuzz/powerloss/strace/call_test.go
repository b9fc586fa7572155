package strace

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hexed encodes bytes like the record.
func hexed(text string) string {
	return strings.ReplaceAll(strings.TrimRight(fmt.Sprintf(" % x", text), " "), " ", `\x`)
}

func quoted(text string) string { return `"` + hexed(text) + `"` }

func TestStringArgDecodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		c := Call{Name: "write", Args: []string{"3", quoted(string(want))}}
		if got, err := c.StringArg(1); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s came back as %s, %v", hex.EncodeToString(want), hex.EncodeToString(got), err)
		}
	})
}

func TestStringArgRejectsPartial(t *testing.T) {
	for what, word := range map[string]string{
		"cut off by the tracer": quoted("abc") + "...",
		"no string":             "NULL",
		"an address":            "0x7ffd1234",
		"not hexadecimal":       `"abcd"`,
		"half a byte":           `"\x4"`,
		"no digits":             `"\xzz"`,
		"open at its end":       `"\x41`,
	} {
		c := Call{Name: "write", Args: []string{word}}
		if text, err := c.StringArg(0); err == nil {
			t.Errorf("%s was read as %q", what, text)
		}
	}
	c := Call{Name: "write", Args: []string{"3"}}
	if _, err := c.StringArg(1); err == nil {
		t.Error("an argument that is not there was read")
	}
}

func TestDescriptor(t *testing.T) {
	for word, want := range map[string]struct {
		fd   int
		path string
	}{
		"11<" + hexed("/data/log/1") + ">":             {11, "/data/log/1"},
		"AT_FDCWD<" + hexed("/work") + ">":             {-1, "/work"},
		"7<" + hexed("socket:[1234]") + ">":            {7, "socket:[1234]"},
		"3":                                            {3, ""},
		"4<" + hexed("/a>b, (c) = 5") + ">":            {4, "/a>b, (c) = 5"},
		"5<" + hexed("/data/gone") + ">" + "(deleted)": {5, "/data/gone"},
	} {
		c := Call{Args: []string{word}}
		fd, path, err := c.Descriptor(0)
		if err != nil || fd != want.fd || path != want.path {
			t.Errorf("%s is %d of %q, %v; want %d of %q", word, fd, path, err, want.fd, want.path)
		}
	}
	for _, word := range []string{"", "x", "<>", "3<zz>"} {
		c := Call{Args: []string{word}}
		if fd, _, err := c.Descriptor(0); err == nil {
			t.Errorf("%q was read as %d", word, fd)
		}
	}
}

func TestNumbersAndFlags(t *testing.T) {
	c := Call{Args: []string{"4096", "NULL", "0600", "O_RDWR|O_CREAT|O_CLOEXEC"}}
	if n, ok := c.NumberArg(0); !ok || n != 4096 {
		t.Errorf("4096 is %d, %t", n, ok)
	}
	if n, ok := c.NumberArg(2); !ok || n != 0o600 {
		t.Errorf("0600 is %d, %t", n, ok)
	}
	for _, arg := range []int{1, 3, 4} {
		if n, ok := c.NumberArg(arg); ok {
			t.Errorf("argument %d is no number, and was read as %d", arg, n)
		}
	}
	for flag, want := range map[string]bool{"O_CREAT": true, "O_RDWR": true, "O_CLO": false, "O_TRUNC": false} {
		if c.HasFlag(3, flag) != want {
			t.Errorf("%s: %t", flag, !want)
		}
	}
	if c.HasFlag(4, "O_CREAT") {
		t.Error("an argument that is not there has flags")
	}
}

func TestSentJoinsPieces(t *testing.T) {
	for name, c := range map[string]Call{
		"write":   {Name: "write", Args: []string{"3", quoted("one two"), "7"}},
		"sendto":  {Name: "sendto", Args: []string{"3", quoted("one two"), "7", "0", "NULL", "0"}},
		"writev":  {Name: "writev", Args: []string{"3", "[{iov_base=" + quoted("one "), "iov_len=4}", "{iov_base=" + quoted("two"), "iov_len=3}]", "2"}},
		"sendmsg": {Name: "sendmsg", Args: []string{"3", "{msg_name=NULL", "msg_iov=[{iov_base=" + quoted("one two"), "iov_len=7}]", "msg_iovlen=1}", "0"}},
	} {
		if sent, err := c.SentBytes(); err != nil || string(sent) != "one two" {
			t.Errorf("%s sent %q, %v", name, sent, err)
		}
	}
	cut := Call{Name: "writev", Args: []string{"3", "[{iov_base=" + quoted("one") + "...", "iov_len=40}]"}}
	if sent, err := cut.SentBytes(); err == nil {
		t.Errorf("what the tracer has cut off was read as %q", sent)
	}
}
