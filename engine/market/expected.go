package market

import (
	"fmt"
	"math"
	"strings"
)

const (
	maxListed      = 12  // values of an enum that an error lists
	maxListedBytes = 200 // of those values
)

var expectedForms = [fieldTypes]string{
	TypeString:    "a string",
	TypeInteger:   "an integer",
	TypeNumber:    "a number",
	TypeBoolean:   "true or false",
	TypeDate:      "a date of the form YYYY-MM-DD",
	TypeEmail:     "an email address, such as name@example.com",
	TypePhone:     "a phone number: ten US digits, or + and a country code",
	TypeState:     "a two-letter US state code in capitals, such as CA",
	TypeZIP:       "a ZIP code of five digits, or ZIP+4",
	TypeURL:       "an absolute http or https address",
	typeHTTPS:     "an https address",
	typeTimestamp: "a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z",
}

// describe says in words what the field takes.
func (r *rule) describe() string {
	if r.kind == TypeEnum {
		return r.expected
	}
	words := expectedForms[r.kind]
	words += interval(" from %s", " to %s", " of at least %s", " of at most %s", r.bound(r.number.minInteger, r.number.min), r.bound(r.number.maxInteger, r.number.max))
	if r.kind.textual() {
		words += r.describeLength()
	}
	if r.pattern != nil {
		words += " that matches the campaign's pattern"
	}
	return words
}

// bound is a bound in words, or nothing where there is none.
func (r *rule) bound(integer int64, number float64) string {
	switch {
	case math.IsInf(number, 0):
		return ""
	case r.kind == TypeInteger:
		return fmt.Sprint(integer)
	}
	return fmt.Sprint(number)
}

func (r *rule) describeLength() string {
	least, most := "", ""
	if r.minLength > 0 {
		least = fmt.Sprint(r.minLength)
	}
	if r.maxLength < r.maxBytes {
		most = fmt.Sprint(r.maxLength)
	}
	words := interval(" of %s", " to %s", " of at least %s", " of at most %s", least, most)
	if words != "" {
		words += " characters"
	}
	return words
}

func interval(from, to, atLeast, atMost, least, most string) string {
	switch {
	case least != "" && most != "":
		return fmt.Sprintf(from+to, least, most)
	case least != "":
		return fmt.Sprintf(atLeast, least)
	case most != "":
		return fmt.Sprintf(atMost, most)
	}
	return ""
}

func listValues(values []string) string {
	listed, size := 0, 0
	for listed < len(values) && listed < maxListed && size+len(values[listed]) <= maxListedBytes {
		size += len(values[listed])
		listed++
	}
	words := "one of " + strings.Join(values[:listed], ", ")
	if listed < len(values) {
		words = strings.TrimSuffix(words, " ") + " and others that the campaign lists"
	}
	return words
}
