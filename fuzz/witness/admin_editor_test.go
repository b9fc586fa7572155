//go:build unix

package witness

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// An acknowledged edit must be in force. An edit without an answer may be in force. A refused
// edit must not have changed the object.
func TestAdminEditorDetectsWrongState(t *testing.T) {
	seen := func(th *adminObject, what string) []string {
		o := &AdminEditor{tally: Tally{}}
		o.checkSeenValue(th, what)
		return o.findings
	}
	th := &adminObject{path: "config/buyers/b", possible: []string{""}}
	for _, step := range []struct {
		next        string
		v           editResult
		right, lies []string
	}{
		{"1", applied, []string{"1"}, []string{"", "2"}},
		{"2", resultUnknown, []string{"1", "2"}, []string{"", "3"}},
		{"3", notApplied, []string{"1", "2"}, []string{"3"}},
		{"", applied, []string{""}, []string{"1", "2", "3"}},
	} {
		th.recordResult(step.next, step.v)
		for _, is := range step.right {
			if found := seen(&adminObject{path: th.path, possible: slices.Clone(th.possible)}, is); len(found) > 0 {
				t.Errorf("after %+v: %q", step, found)
			}
		}
		for _, is := range step.lies {
			if found := seen(&adminObject{path: th.path, possible: slices.Clone(th.possible)}, is); len(found) != 1 {
				t.Errorf("after %+v it is %q, and that is not found", step, is)
			}
		}
	}
	if !slices.Equal(th.acknowledged, []string{"1", ""}) || !slices.Equal(th.attempted, []string{"1", "2", ""}) {
		t.Errorf("acknowledged %q, tried %q", th.acknowledged, th.attempted)
	}
}

// An answer below 500 settles an edit; a 5xx answer or a missing one does not.
func TestClassifyAdminAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		err    error
		want   editResult
		found  int
	}{
		{200, nil, applied, 0},
		{204, nil, applied, 0},
		{409, nil, notApplied, 0},
		{429, nil, notApplied, 0},
		{503, nil, resultUnknown, 0},
		{0, errors.New("broken"), resultUnknown, 0},
		{422, nil, notApplied, 1},
		{404, nil, notApplied, 1},
	} {
		o := &AdminEditor{tally: Tally{}}
		if got := o.classifyAnswer("that", c.status, nil, c.err); got != c.want || len(o.findings) != c.found || o.tally.CountOf("that") != 1 {
			t.Errorf("%d, %v: %v, %q", c.status, c.err, got, o.findings)
		}
	}
}

// The history must hold the acknowledged versions in order, and end with the current one.
func TestHistoryFault(t *testing.T) {
	th := &adminObject{possible: []string{"5"}, acknowledged: []string{"1", "2", "", "5"}, attempted: []string{"1", "2", "3", "", "5"}}
	for past, want := range map[string]string{
		"5||2|1":   "",
		"5||3|2|1": "",
		"5|2|1":    "lacks",
		"5||1|2":   "lacks",
		"|2|1":     "does not end",
		"5||2|7|1": "without a request",
		"":         "does not end",
	} {
		got := th.describeHistoryFault(strings.Split(past, "|"), false)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", past, got, want)
		}
	}
	if got := th.describeHistoryFault([]string{"5", ""}, true); got != "" {
		t.Errorf("one that goes on: %q", got)
	}
}

// An upload sends all lines, or half of them and an error.
func TestUploadInTwoParts(t *testing.T) {
	all := func(from io.Reader) (string, error) {
		text, err := io.ReadAll(from)
		return string(text), err
	}
	whole, err := all(startUploadInTwoParts(0, 4, false))
	if err != nil || whole != "+14152300000\n+14152300001\n+14152300002\n+14152300003\n" {
		t.Errorf("%q, %v", whole, err)
	}
	if half, err := all(startUploadInTwoParts(0, 4, true)); err == nil || half != "+14152300000\n+14152300001\n" {
		t.Errorf("%q, %v", half, err)
	}
}
