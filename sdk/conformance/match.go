package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// match compares a value with the expected one and returns the differences. An expected object
// lists the members to check; others may exist. An expected list has the same length. Numbers
// are equal by exact value, times by instant. A text that begins with ~ is a rule:
//
//	~any           present, null or not           ~absent      missing
//	~text          a text that is not empty       ~number      a number
//	~re ^lead_     a text that matches (RE2)      ~not X       missing, or not the text X
//	~between 1 2   a number from 1 to 2           ~one a b     one of these texts
//	~length 3      a list of three
//
// A literal ~ is written ~~.
func match(at string, want, got any, there bool) []string {
	if rule, is := want.(string); is && strings.HasPrefix(rule, "~") && !strings.HasPrefix(rule, "~~") {
		if wrong := matchRule(rule, got, there); wrong != "" {
			return []string{at + ": " + wrong}
		}
		return nil
	}
	if !there {
		return []string{fmt.Sprintf("%s: missing, want %s", at, shortJSON(want))}
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
		if number, is := got.(json.Number); is && atMost(want, number) && atMost(number, want) {
			return nil
		}
	default: // true, false, null
		if want == got {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %s, want %s", at, shortJSON(got), shortJSON(want))}
}

func matchObject(at string, want map[string]any, got any) (wrong []string) {
	object, is := got.(map[string]any)
	if !is {
		return []string{fmt.Sprintf("%s: %s, want an object", at, shortJSON(got))}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, there := object[name]
		wrong = append(wrong, match(at+"."+name, want[name], value, there)...)
	}
	return wrong
}

func matchList(at string, want []any, got any) (wrong []string) {
	list, is := got.([]any)
	if !is || len(list) != len(want) {
		return []string{fmt.Sprintf("%s: %s, want a list of %d", at, shortJSON(got), len(want))}
	}
	for i := range want {
		wrong = append(wrong, match(fmt.Sprintf("%s[%d]", at, i), want[i], list[i], true)...)
	}
	return wrong
}

// matchRule returns "" if the value satisfies the rule, and the difference otherwise.
func matchRule(rule string, got any, there bool) string {
	verb, rest, _ := strings.Cut(rule, " ")
	text, isText := got.(string)
	number, isNumber := got.(json.Number)
	list, isList := got.([]any)
	var holds bool
	switch verb {
	case "~absent":
		if there {
			return "present: " + shortJSON(got)
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
		holds = isNumber && atMost(json.Number(low), number) && atMost(number, json.Number(high))
	default:
		panic("BUG: a rule that readThemes let pass: " + rule)
	}
	switch {
	case !there:
		return "missing, want " + rule
	case !holds:
		return shortJSON(got) + ", want " + rule
	}
	return ""
}

// checkRules returns an error for an unknown rule, so that a typo cannot make a case always
// pass.
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
			return fmt.Errorf("unknown rule %q; the rules are %s", value, strings.Join(known, " "))
		}
		if verb == "~re" {
			_, err := regexp.Compile(rest)
			return err
		}
	}
	return nil
}

// sameInstant reports whether two RFC 3339 times are the same instant, in any offset and
// precision.
func sameInstant(a, b string) bool {
	x, wrongX := time.Parse(time.RFC3339Nano, a)
	y, wrongY := time.Parse(time.RFC3339Nano, b)
	return wrongX == nil && wrongY == nil && x.Equal(y)
}

// atMost reports whether number <= limit by exact value. It is false if one is not a number.
func atMost(number, limit json.Number) bool {
	x, okX := new(big.Rat).SetString(number.String())
	y, okY := new(big.Rat).SetString(limit.String())
	return okX && okY && x.Cmp(y) <= 0
}

// matchSlept compares waits with the expected ones: at least as long, and at most a tenth
// longer.
func matchSlept(want []any, got any) []string {
	waits, _ := got.([]any)
	if len(waits) != len(want) {
		return []string{fmt.Sprintf("slept: %s, want %s", shortJSON(got), shortJSON(want))}
	}
	var wrong []string
	for i, expected := range want {
		if seconds, is := expected.(json.Number); is {
			exact, _ := new(big.Rat).SetString(seconds.String()) // a JSON number is always valid
			expected = fmt.Sprintf("~between %s %s", seconds, exact.Mul(exact, big.NewRat(11, 10)).FloatString(6))
		}
		wrong = append(wrong, match(fmt.Sprintf("slept[%d]", i), expected, waits[i], true)...)
	}
	return wrong
}

// shortJSON returns the value as JSON, shortened if long.
func shortJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > 300 {
		return string(text[:300]) + "…"
	}
	return string(text)
}
