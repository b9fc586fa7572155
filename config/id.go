package config

import "strings"

const maxID = 64

// id judges a name that the operator chose: 1 to 64 of A-Z a-z 0-9 _ - and dot.
func (c *compiler) id(at place, id string) bool {
	switch {
	case id == "":
		c.fail(at, "is missing; give 1 to 64 letters, digits, _, - or .")
		return false
	case len(id) > maxID || strings.ContainsFunc(id, notInID):
		c.fail(at, "is not an id; use 1 to 64 letters, digits, _, - or .")
		return false
	}
	return true
}

func notInID(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '.')
}
