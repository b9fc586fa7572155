package engine

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

// Person is what a lead could be known by in a text: words, and the digits of numbers.
// Contact data has a place of its own, where it can be erased; what others write
// freely, or a campaign calls something else, may repeat it in another place. The zero
// value is nobody; it keeps its memory.
type Person struct {
	room           []byte // has the words, in small letters, and the numbers' digits
	words, numbers []span
	text, digits   []byte // of what is looked through
}

type span struct{ begin, end int }

// Shorter ones are in too many innocent texts.
const (
	leastWord   = 3
	leastDigits = 7
	nationally  = 10 // digits of a phone number without its country's
)

// Reset makes it nobody.
func (p *Person) Reset() {
	clear(p.room)
	p.room, p.words, p.numbers = p.room[:0], p.words[:0], p.numbers[:0]
}

// telling are parts of the names of fields whose values are words to be known by. Of
// others, a city's say, too many innocent texts have the value.
var telling = [...]string{"name", "phone", "mail", "line1", "address"}

// Add adds a field of the contact part.
func (p *Person) Add(name string, value []byte) {
	begin := len(p.room)
	p.room = appendDigits(p.room, value)
	if n := len(p.room) - begin; n >= leastDigits && n*2 >= len(value) {
		p.numbers = append(p.numbers, span{begin + max(0, n-nationally), len(p.room)})
	} else {
		p.room = p.room[:begin]
	}
	value = bytes.TrimSpace(value)
	tells := slices.ContainsFunc(telling[:], func(part string) bool { return strings.Contains(name, part) })
	if len(value) < leastWord || !tells && bytes.IndexByte(value, '@') < 0 {
		return
	}
	begin = len(p.room)
	p.room = appendSmall(p.room, value)
	p.words = append(p.words, span{begin, len(p.room)})
}

// In tells whether a text has a number of the person's, or one of its words as a word.
func (p *Person) In(text []byte) bool {
	if len(text) < leastWord {
		return false
	}
	p.digits = appendDigits(p.digits[:0], text)
	for _, at := range p.numbers {
		if bytes.Contains(p.digits, p.room[at.begin:at.end]) {
			return true
		}
	}
	p.text = appendSmall(p.text[:0], text)
	for _, at := range p.words {
		if hasWord(p.text, p.room[at.begin:at.end]) {
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

// appendSmall writes a text in small letters; most have none but those of ASCII.
func appendSmall(dst, text []byte) []byte {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return append(dst, bytes.ToLower(text)...)
		}
	}
	return format.AppendLower(dst, text)
}
