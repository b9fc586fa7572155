package syntax

import (
	"strconv"
)

// KeyPath is the place of a value in a document, such as campaigns[0].fields[2].pattern.
type KeyPath string

// Key returns the path of a key in the mapping at p. It quotes and shortens unusual keys, so
// that a path stays in one line.
func (p KeyPath) Key(name string) KeyPath {
	if !CanBeUnquotedInPath(name) {
		runes := []rune(name)
		name = strconv.Quote(string(runes[:min(len(runes), 64)]))
	}
	if p == "" {
		return KeyPath(name)
	}
	return p + "." + KeyPath(name)
}

// Index returns the path of an item in the list at p.
func (p KeyPath) Index(index int) KeyPath {
	return p + KeyPath("["+strconv.Itoa(index)+"]")
}

// CanBeUnquotedInPath reports whether a path can show the key without quotes: 1 to 64 letters, digits,
// _ and -.
func CanBeUnquotedInPath(key string) bool {
	for i := range len(key) {
		c := key[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '-' && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return key != "" && len(key) <= 64
}

// pathStep is one step of a path: a key of a mapping, or an index of a list.
type pathStep struct {
	key   string
	index int // -1 for a key
}

// cutFirstStep returns the first step of the path and the rest of the path.
func (p KeyPath) cutFirstStep() (pathStep, KeyPath) {
	if p != "" && p[0] == '[' {
		end := 1
		for end < len(p) && p[end] != ']' {
			end++
		}
		index, err := strconv.Atoi(string(p[1:end]))
		if err != nil {
			panic("BUG: malformed place " + string(p))
		}
		return pathStep{index: index}, trimLeadingDot(p[min(end+1, len(p)):])
	}
	end := 0
	for end < len(p) && p[end] != '.' && p[end] != '[' {
		end++
	}
	return pathStep{key: string(p[:end]), index: -1}, trimLeadingDot(p[end:])
}

func trimLeadingDot(p KeyPath) KeyPath {
	if p != "" && p[0] == '.' {
		return p[1:]
	}
	return p
}
