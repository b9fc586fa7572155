package engine

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

// Person finds a lead's contact data in other texts. Contact data is encrypted and can be
// erased, but a buyer's answer, or a field with another name, may repeat it. A Person has
// the words and the digits by which it recognizes the lead. The zero value recognizes no
// text. Reset keeps the memory.
type Person struct {
	memory         []byte // the words in lower case, and the digits of the numbers
	words, numbers []span // in memory
	text, digits   []byte // of the searched text
}

type span struct{ begin, end int }

// Shorter words and numbers also appear in unrelated texts.
const (
	minWord        = 3
	minDigits      = 7
	nationalDigits = 10 // digits of a phone number without the country code
)

// Reset removes all words and numbers.
func (p *Person) Reset() {
	clear(p.memory)
	p.memory, p.words, p.numbers = p.memory[:0], p.words[:0], p.numbers[:0]
}

// identifyingNames are parts of the names of fields whose values identify a person. The values
// of other fields, for example a city, also appear in unrelated texts.
var identifyingNames = [...]string{"name", "phone", "mail", "line1", "address"}

// Add adds the value of a contact field.
func (p *Person) Add(name string, value []byte) {
	begin := len(p.memory)
	p.memory = appendDigits(p.memory, value)
	if n := len(p.memory) - begin; n >= minDigits && n*2 >= len(value) {
		p.numbers = append(p.numbers, span{begin + max(0, n-nationalDigits), len(p.memory)})
	} else {
		p.memory = p.memory[:begin]
	}
	value = bytes.TrimSpace(value)
	identifies := slices.ContainsFunc(identifyingNames[:], func(part string) bool { return strings.Contains(name, part) })
	if len(value) < minWord || !identifies && bytes.IndexByte(value, '@') < 0 {
		return
	}
	begin = len(p.memory)
	p.memory = appendLower(p.memory, value)
	p.words = append(p.words, span{begin, len(p.memory)})
}

// IsIn reports whether a text has one of the numbers, or one of the words as a whole word.
func (p *Person) IsIn(text []byte) bool {
	if len(text) < minWord {
		return false
	}
	p.digits = appendDigits(p.digits[:0], text)
	for _, at := range p.numbers {
		if bytes.Contains(p.digits, p.memory[at.begin:at.end]) {
			return true
		}
	}
	p.text = appendLower(p.text[:0], text)
	for _, at := range p.words {
		if hasWord(p.text, p.memory[at.begin:at.end]) {
			return true
		}
	}
	return false
}

func hasWord(text, word []byte) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRune(text[:begin])
		after, _ := utf8.DecodeRune(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at = end
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func appendDigits(dst, text []byte) []byte {
	for _, c := range text {
		if c-'0' <= 9 {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendLower appends a text in lower case. It is fast for ASCII texts.
func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return append(dst, bytes.ToLower(text)...)
		}
	}
	return format.AppendLower(dst, text)
}
