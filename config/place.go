package config

import "strconv"

// place is a path into a document, such as campaigns[0].fields[2].pattern.
type place string

// key is the place of a key. A key that no form has is quoted, and cut, so that
// a path stays one line.
func (p place) key(name string) place {
	if !plainKey(name) {
		runes := []rune(name)
		name = strconv.Quote(string(runes[:min(len(runes), 64)]))
	}
	if p == "" {
		return place(name)
	}
	return p + "." + place(name)
}

func (p place) at(index int) place {
	return p + place("["+strconv.Itoa(index)+"]")
}

func plainKey(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '-' && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return name != "" && len(name) <= 64
}

// step is one part of a place: a key, or the index of an item.
type step struct {
	key   string
	index int // -1: key is meant
}

// next cuts the first step off the place.
func (p place) next() (step, place) {
	if p != "" && p[0] == '[' {
		end := 1
		for end < len(p) && p[end] != ']' {
			end++
		}
		index, err := strconv.Atoi(string(p[1:end]))
		if err != nil {
			panic("BUG: malformed place " + string(p))
		}
		return step{index: index}, cutDot(p[min(end+1, len(p)):])
	}
	end := 0
	for end < len(p) && p[end] != '.' && p[end] != '[' {
		end++
	}
	return step{key: string(p[:end]), index: -1}, cutDot(p[end:])
}

func cutDot(p place) place {
	if p != "" && p[0] == '.' {
		return p[1:]
	}
	return p
}
