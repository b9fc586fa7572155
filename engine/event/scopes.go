package event

// TokenScopes is the set of permissions (OAuth scopes) of a token. The log stores these bits, so
// they never change.
type TokenScopes uint8

const (
	ScopePing    TokenScopes = 1 << 0 // request bids
	ScopePost    TokenScopes = 1 << 1 // deliver leads
	ScopeWebhook TokenScopes = 1 << 2 // report the status of leads
)

var scopeNames = [...]struct {
	name string
	bit  TokenScopes
}{{"ping", ScopePing}, {"post", ScopePost}, {"webhook", ScopeWebhook}}

// ParseScope returns the scope with this name. known is false for an unknown name.
func ParseScope(name string) (scope TokenScopes, known bool) {
	for i := range scopeNames {
		if scopeNames[i].name == name {
			return scopeNames[i].bit, true
		}
	}
	return 0, false
}

// ContainsAll reports whether s has all scopes of others.
func (s TokenScopes) ContainsAll(others TokenScopes) bool { return s&others == others }

// Names returns the names of the scopes in s, in the order ping, post, webhook.
func (s TokenScopes) Names() (names []string) {
	for i := range scopeNames {
		if s.ContainsAll(scopeNames[i].bit) {
			names = append(names, scopeNames[i].name)
		}
	}
	return names
}

// AppendNames appends the names of the scopes in s, separated by spaces, as OAuth lists scopes.
func (s TokenScopes) AppendNames(dst []byte) []byte {
	for i, name := range s.Names() {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, name...)
	}
	return dst
}

func (s TokenScopes) String() string { return string(s.AppendNames(nil)) }
