// Package redaction finds a lead's contact data in other texts, so that it can be withheld from
// the log and from other parties.
package redaction

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

// Withheld is the text that replaces a buyer's text in which contact data of the lead was found.
const Withheld = "(withheld: it repeats contact data)"

// ContactMatcher finds one lead's contact data in other texts. Contact data is encrypted and can be
// erased, but a buyer's answer, or a field with another name, may repeat it. A ContactMatcher has the
// words and the digits by which it recognizes the lead; Add adds them. The zero value recognizes
// no text. Reset empties it for the next lead and keeps its memory.
type ContactMatcher struct {
	memory         []byte        // the words in lower case, and the digits of the numbers
	words, numbers []memoryRange // in memory
	text, digits   []byte        // of the searched text
}

type memoryRange struct{ begin, end int }

// Shorter words and numbers are not searched, because they also appear in unrelated texts.
const (
	minWord        = 3
	minDigits      = 7
	nationalDigits = 10 // digits of a phone number without the country code
)

// Reset removes all words and numbers, so that the ContactMatcher can be used for another lead.
func (m *ContactMatcher) Reset() {
	clear(m.memory)
	m.memory, m.words, m.numbers = m.memory[:0], m.words[:0], m.numbers[:0]
}

// identifyingNames are parts of field names, such as "phone". If a field's name contains one of
// them, its value identifies a person. The values of other fields, for example a city, also
// appear in unrelated texts.
var identifyingNames = [...]string{"name", "phone", "mail", "line1", "address"}

// Add adds the value of a contact field to the words and numbers that ContactFoundIn searches. A value
// of at least 7 digits is added as a number in any field, if digits are at least half of its bytes. Of
// a long number only the last 10 digits are used. A text of at least 3 bytes is added if the field's
// name says that it identifies a person, or if it contains an @. Other values are ignored.
func (m *ContactMatcher) Add(name string, value []byte) {
	begin := len(m.memory)
	m.memory = appendDigits(m.memory, value)
	if n := len(m.memory) - begin; n >= minDigits && n*2 >= len(value) {
		m.numbers = append(m.numbers, memoryRange{begin + max(0, n-nationalDigits), len(m.memory)})
	} else {
		m.memory = m.memory[:begin]
	}
	value = bytes.TrimSpace(value)
	identifies := slices.ContainsFunc(identifyingNames[:], func(part string) bool { return strings.Contains(name, part) })
	if len(value) < minWord || !identifies && bytes.IndexByte(value, '@') < 0 {
		return
	}
	begin = len(m.memory)
	m.memory = appendLower(m.memory, value)
	m.words = append(m.words, memoryRange{begin, len(m.memory)})
}

// ContactFoundIn reports whether a text contains contact data of the lead: one of the numbers, or one of
// the words as a whole word.
func (m *ContactMatcher) ContactFoundIn(text []byte) bool {
	if len(text) < minWord {
		return false
	}
	m.digits = appendDigits(m.digits[:0], text)
	for _, at := range m.numbers {
		if bytes.Contains(m.digits, m.memory[at.begin:at.end]) {
			return true
		}
	}
	m.text = appendLower(m.text[:0], text)
	for _, at := range m.words {
		if containsWholeWord(m.text, m.memory[at.begin:at.end]) {
			return true
		}
	}
	return false
}

func containsWholeWord(text, word []byte) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRune(text[:begin])
		after, _ := utf8.DecodeRune(text[end:])
		if !isWordRune(before) && !isWordRune(after) {
			return true
		}
		_, size := utf8.DecodeRune(word)
		at = begin + size // an occurrence may overlap this one
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func appendDigits(dst, text []byte) []byte {
	for _, c := range text {
		if c-'0' <= 9 {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendLower appends the text in lower case to dst. It has a fast path for ASCII texts.
func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return append(dst, bytes.ToLower(text)...)
		}
	}
	return format.AppendLowerASCII(dst, text)
}

// WithholdIfContactData returns a buyer's reason for a return, or Withheld if the reason seems to
// contain an e-mail address or a phone number. The log stores reasons in plaintext, and the
// supplier gets them. Rejected: a comparison with the lead's contact data, which must be read
// from the log for each of up to 1,000 leads.
func WithholdIfContactData(returnReason string) string {
	digits := 0
	for _, r := range returnReason {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits >= minDigits || strings.Contains(returnReason, "@") {
		return Withheld
	}
	return returnReason
}
