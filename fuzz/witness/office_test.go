//go:build unix

package witness

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestOfficeKnows: what was acknowledged is in force; of what had no answer one of two is;
// what was refused changed nothing. Whatever else is seen is found.
func TestOfficeKnows(t *testing.T) {
	seen := func(th *thing, what string) []string {
		o := &Office{done: Tally{}}
		o.is(th, what, func(may string) bool { return may == what })
		return o.found
	}
	th := &thing{path: "config/buyers/b", may: []string{""}}
	for _, step := range []struct {
		next        string
		v           verdict
		right, lies []string
	}{
		{"1", isDone, []string{"1"}, []string{"", "2"}},
		{"2", nobodySaid, []string{"1", "2"}, []string{"", "3"}},
		{"3", notDone, []string{"1", "2"}, []string{"3"}},
		{"", isDone, []string{""}, []string{"1", "2", "3"}},
	} {
		th.becomes(step.next, step.v)
		for _, is := range step.right {
			if found := seen(&thing{path: th.path, may: slices.Clone(th.may)}, is); len(found) > 0 {
				t.Errorf("after %+v: %q", step, found)
			}
		}
		for _, is := range step.lies {
			if found := seen(&thing{path: th.path, may: slices.Clone(th.may)}, is); len(found) != 1 {
				t.Errorf("after %+v it is %q, and that is not found", step, is)
			}
		}
	}
	if !slices.Equal(th.acked, []string{"1", ""}) || !slices.Equal(th.tried, []string{"1", "2", ""}) {
		t.Errorf("acknowledged %q, tried %q", th.acked, th.tried)
	}
}

// TestOfficeJudges: an answer is a word, a fault or none is not.
func TestOfficeJudges(t *testing.T) {
	for _, c := range []struct {
		status int
		err    error
		want   verdict
		found  int
	}{
		{200, nil, isDone, 0},
		{204, nil, isDone, 0},
		{409, nil, notDone, 0},
		{429, nil, notDone, 0},
		{503, nil, nobodySaid, 0},
		{0, errors.New("broken"), nobodySaid, 0},
		{422, nil, notDone, 1},
		{404, nil, notDone, 1},
	} {
		o := &Office{done: Tally{}}
		if got := o.judge("that", c.status, nil, c.err); got != c.want || len(o.found) != c.found || o.done.Of("that") != 1 {
			t.Errorf("%d, %v: %v, %q", c.status, c.err, got, o.found)
		}
	}
}

// TestOfficeReadsHistory: what was acknowledged is in it, in its order, and the newest is
// what is in force.
func TestOfficeReadsHistory(t *testing.T) {
	th := &thing{may: []string{"5"}, acked: []string{"1", "2", "", "5"}, tried: []string{"1", "2", "3", "", "5"}}
	for past, want := range map[string]string{
		"5||2|1":   "",
		"5||3|2|1": "",
		"5|2|1":    "lacks",
		"5||1|2":   "lacks",
		"|2|1":     "does not end",
		"5||2|7|1": "nobody asked for",
		"":         "does not end",
	} {
		got := th.pastFault(strings.Split(past, "|"), false)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", past, got, want)
		}
	}
	if got := th.pastFault([]string{"5", ""}, true); got != "" {
		t.Errorf("one that goes on: %q", got)
	}
}

// TestUploadsInPieces: all lines come, or half of them and a fault.
func TestUploadsInPieces(t *testing.T) {
	all := func(from io.Reader) (string, error) {
		text, err := io.ReadAll(from)
		return string(text), err
	}
	whole, err := all(inPieces(0, 4, false))
	if err != nil || whole != "+14152300000\n+14152300001\n+14152300002\n+14152300003\n" {
		t.Errorf("%q, %v", whole, err)
	}
	if half, err := all(inPieces(0, 4, true)); err == nil || half != "+14152300000\n+14152300001\n" {
		t.Errorf("%q, %v", half, err)
	}
}
