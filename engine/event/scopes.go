package event

// OAuthScopes is the set of permissions (OAuth scopes) of a token. The log stores these bits, so
// they never change.
type OAuthScopes uint8

const (
	ScopePing    OAuthScopes = 1 << 0 // request bids
	ScopePost    OAuthScopes = 1 << 1 // deliver leads
	ScopeWebhook OAuthScopes = 1 << 2 // report the status of leads
)

var scopeNames = [...]struct {
	name string
	bit  OAuthScopes
}{{"ping", ScopePing}, {"post", ScopePost}, {"webhook", ScopeWebhook}}

// ParseOAuthScope returns the scope with this name. known is false for an unknown name.
func ParseOAuthScope(name string) (scope OAuthScopes, known bool) {
	for i := range scopeNames {
		if scopeNames[i].name == name {
			return scopeNames[i].bit, true
		}
	}
	return 0, false
}

// ContainsAll reports whether s has all scopes of others.
func (s OAuthScopes) ContainsAll(others OAuthScopes) bool { return s&others == others }

// Names returns the names of the scopes in s, in the order ping, post, webhook.
func (s OAuthScopes) Names() (names []string) {
	for i := range scopeNames {
		if s.ContainsAll(scopeNames[i].bit) {
			names = append(names, scopeNames[i].name)
		}
	}
	return names
}

// AppendSpaceSeparatedNames appends the names of the scopes in s, separated by spaces, as OAuth lists scopes.
func (s OAuthScopes) AppendSpaceSeparatedNames(dst []byte) []byte {
	for i, name := range s.Names() {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, name...)
	}
	return dst
}

func (s OAuthScopes) String() string { return string(s.AppendSpaceSeparatedNames(nil)) }
