//go:build unix

package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const ellipsis = "…"

// matchText compares the output with a page, line by line.
func matchText(want, got string) error {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for line := range strings.Lines(want) {
		if line = strings.TrimRight(line, " \n"); line == ellipsis {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), ellipsis, `.*`) + `[ \r]*\n`)
	}
	pattern.WriteString(`$`)
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	matched, err := regexp.MatchString(pattern.String(), got)
	if err == nil && !matched {
		err = errors.New("the output differs")
	}
	return err
}

// matchJSON compares an answer with a page, value by value.
func matchJSON(want, got string) error {
	expected, err := values(want)
	if err != nil {
		return fmt.Errorf("the page has invalid JSON here: %w", err)
	}
	found, err := values(got)
	if err != nil {
		return fmt.Errorf("the output is no JSON: %w", err)
	}
	if len(expected) != len(found) {
		return fmt.Errorf("the output has %d values, want %d", len(found), len(expected))
	}
	for i := range expected {
		if err := equal("the answer", expected[i], found[i]); err != nil {
			return err
		}
	}
	return nil
}

func values(text string) (all []any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for {
		var one any
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, one)
	}
}

// equal compares two values at a path.
func equal(path string, want, got any) error {
	if want == ellipsis && got != nil {
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		return equalMembers(path, w, got)
	case []any:
		g, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is %v, want a list", path, got)
		}
		if n := len(w); n > 0 && w[n-1] == ellipsis && len(g) >= n-1 {
			w, g = w[:n-1], g[:n-1]
		}
		if len(w) != len(g) {
			return fmt.Errorf("%s has %d items, want %d", path, len(g), len(w))
		}
		for i := range w {
			if err := equal(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if g, ok := got.(string); ok && glob(w, g) {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, want %v", path, got, want)
}

// equalMembers compares objects. A member "…" permits additional members.
func equalMembers(path string, want map[string]any, got any) error {
	g, ok := got.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %v, want an object", path, got)
	}
	for name := range want {
		if _, ok := g[name]; !ok && name != ellipsis {
			return fmt.Errorf("%s has no %s", path, name)
		}
	}
	_, others := want[ellipsis]
	for name := range g {
		w, ok := want[name]
		if !ok && !others {
			return fmt.Errorf("%s has a member %s", path, name)
		}
		if !ok {
			continue
		}
		if err := equal(path+"."+name, w, g[name]); err != nil {
			return err
		}
	}
	return nil
}

func glob(pattern, text string) bool {
	matched, err := regexp.MatchString(`(?s)^`+strings.ReplaceAll(regexp.QuoteMeta(pattern), ellipsis, `.*`)+`$`, text)
	return err == nil && matched
}
