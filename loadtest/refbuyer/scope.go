package refbuyer

import "strings"

// scope is a set of permissions of a token.
type scope uint8

const (
	scopePing scope = 1 << iota
	scopePost
	scopeWebhook
)

var scopeNames = [...]struct {
	scope scope
	name  string
}{{scopePing, "ping"}, {scopePost, "post"}, {scopeWebhook, "webhook"}}

// parseScope parses the scope of a token request. An empty scope is ping and post.
func parseScope(text string) (s scope, ok bool) {
	for name := range strings.FieldsSeq(text) {
		one := scope(0)
		for _, known := range scopeNames {
			if known.name == name {
				one = known.scope
			}
		}
		if one == 0 {
			return 0, false
		}
		s |= one
	}
	if s == 0 {
		s = scopePing | scopePost
	}
	return s, true
}

func (s scope) String() string {
	var names []string
	for _, known := range scopeNames {
		if s&known.scope != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " ")
}
