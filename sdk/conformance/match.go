package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// match holds what came against what a case expects, and says at which places they
// differ. An expected object names the members that are looked at; others may be
// there. An expected list has as many elements. Numbers are equal by value, to the
// last digit, times by the instant. A text that begins with ~ is a rule:
//
//	~any           it is there, null or not       ~absent      it is not there
//	~text          a text that is not empty       ~number      a number
//	~re ^lead_     a text that fits (RE2)         ~not X       there or not, but not the text X
//	~between 1 2   a number from 1 to 2           ~one a b     one of these texts
//	~length 3      a list of three
//
// A ~ that is meant is written ~~.
func match(at string, want, got any, there bool) []string {
	if rule, is := want.(string); is && strings.HasPrefix(rule, "~") && !strings.HasPrefix(rule, "~~") {
		if wrong := obey(rule, got, there); wrong != "" {
			return []string{at + ": " + wrong}
		}
		return nil
	}
	if !there {
		return []string{fmt.Sprintf("%s: is not there, want %s", at, show(want))}
	}
	switch want := want.(type) {
	case map[string]any:
		return matchObject(at, want, got)
	case []any:
		return matchList(at, want, got)
	case string:
		if text, is := got.(string); is && (text == strings.TrimPrefix(want, "~") || sameInstant(want, text)) {
			return nil
		}
	case json.Number:
		if number, is := got.(json.Number); is && same(want, number) {
			return nil
		}
	default: // true, false, null
		if want == got {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %s, want %s", at, show(got), show(want))}
}

func matchObject(at string, want map[string]any, got any) (wrong []string) {
	object, is := got.(map[string]any)
	if !is {
		return []string{fmt.Sprintf("%s: %s, want an object", at, show(got))}
	}
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, there := object[name]
		wrong = append(wrong, match(at+"."+name, want[name], value, there)...)
	}
	return wrong
}

func matchList(at string, want []any, got any) (wrong []string) {
	list, is := got.([]any)
	if !is || len(list) != len(want) {
		return []string{fmt.Sprintf("%s: %s, want a list of %d", at, show(got), len(want))}
	}
	for i := range want {
		wrong = append(wrong, match(fmt.Sprintf("%s[%d]", at, i), want[i], list[i], true)...)
	}
	return wrong
}

// obey is "" where what came keeps the rule.
func obey(rule string, got any, there bool) string {
	verb, rest, _ := strings.Cut(rule, " ")
	text, isText := got.(string)
	number, isNumber := got.(json.Number)
	list, isList := got.([]any)
	var holds bool
	switch verb {
	case "~absent":
		if there {
			return "is there: " + show(got)
		}
		return ""
	case "~not":
		holds = !isText || text != rest
		there = true
	case "~any":
		holds = there
	case "~text":
		holds = isText && text != ""
	case "~number":
		holds = isNumber
	case "~re":
		holds = isText && regexp.MustCompile(rest).MatchString(text)
	case "~one":
		holds = isText && slices.Contains(strings.Fields(rest), text)
	case "~length":
		n, err := strconv.Atoi(rest)
		holds = isList && err == nil && len(list) == n
	case "~between":
		low, high, _ := strings.Cut(rest, " ")
		holds = isNumber && !less(number, json.Number(low)) && !less(json.Number(high), number)
	default:
		panic("BUG: a rule that readThemes let pass: " + rule)
	}
	switch {
	case !there:
		return "is not there, want " + rule
	case !holds:
		return show(got) + ", want " + rule
	}
	return ""
}

// checkRules finds rules in a case that nobody knows, so that a slip of the pen is no
// case that always holds.
func checkRules(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			if err := checkRules(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range value {
			if err := checkRules(inner); err != nil {
				return err
			}
		}
	case string:
		verb, rest, _ := strings.Cut(value, " ")
		known := []string{"~absent", "~not", "~any", "~text", "~number", "~re", "~one", "~length", "~between"}
		if strings.HasPrefix(verb, "~") && !strings.HasPrefix(verb, "~~") && !slices.Contains(known, verb) {
			return fmt.Errorf("%q is no rule; the rules are %s", value, strings.Join(known, " "))
		}
		if verb == "~re" {
			_, err := regexp.Compile(rest)
			return err
		}
	}
	return nil
}

// sameInstant holds for two times as RFC 3339 writes them, in any offset and to any decimal.
func sameInstant(a, b string) bool {
	x, wrongX := time.Parse(time.RFC3339Nano, a)
	y, wrongY := time.Parse(time.RFC3339Nano, b)
	return wrongX == nil && wrongY == nil && x.Equal(y)
}

func same(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

func less(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return !okX || !okY || x.Cmp(y) < 0
}

// matchSlept holds waits against those expected: never less than asked for, and at most
// a tenth more.
func matchSlept(want []any, got any) []string {
	waits, _ := got.([]any)
	if len(waits) != len(want) {
		return []string{fmt.Sprintf("slept: %s, want %s", show(got), show(want))}
	}
	var wrong []string
	for i, expected := range want {
		if seconds, is := expected.(json.Number); is {
			expected = fmt.Sprintf("~between %s %s", seconds, new(big.Rat).Mul(rat(seconds), big.NewRat(11, 10)).FloatString(6))
		}
		wrong = append(wrong, match(fmt.Sprintf("slept[%d]", i), expected, waits[i], true)...)
	}
	return wrong
}

func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("BUG: a JSON number that is none: " + n.String())
	}
	return r
}

// show is a value as JSON, cut where it is long.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > 300 {
		return string(text[:300]) + "…"
	}
	return string(text)
}
