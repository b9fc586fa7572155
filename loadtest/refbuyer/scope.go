package refbuyer

import (
	"slices"
	"strings"
)

// scope is a set of permissions of a token.
type scope uint8

const (
	scopePing scope = 1 << iota
	scopePost
	scopeWebhook
)

// scopeNames are in the order of the bits.
var scopeNames = [...]string{"ping", "post", "webhook"}

// parseScope parses the scope of a token request. An empty scope is ping and post.
func parseScope(text string) (s scope, ok bool) {
	for name := range strings.FieldsSeq(text) {
		bit := slices.Index(scopeNames[:], name)
		if bit < 0 {
			return 0, false
		}
		s |= 1 << bit
	}
	if s == 0 {
		s = scopePing | scopePost
	}
	return s, true
}

func (s scope) String() string {
	var names []string
	for bit, name := range scopeNames {
		if s&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
