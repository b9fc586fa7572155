package event

// Scopes is the set of permissions of a token. Its bits are in the log.
type Scopes uint8

const (
	ScopePing    Scopes = 1 << 0 // request bids
	ScopePost    Scopes = 1 << 1 // deliver leads
	ScopeWebhook Scopes = 1 << 2 // report the status of leads
)

var scopeNames = [...]struct {
	name string
	bit  Scopes
}{{"ping", ScopePing}, {"post", ScopePost}, {"webhook", ScopeWebhook}}

// ParseScope reads one scope's name.
func ParseScope(name string) (Scopes, bool) {
	for i := range scopeNames {
		if scopeNames[i].name == name {
			return scopeNames[i].bit, true
		}
	}
	return 0, false
}

// Contains reports whether the set contains all of the others.
func (s Scopes) Contains(others Scopes) bool { return s&others == others }

// Names returns the names of the set, in their fixed order.
func (s Scopes) Names() (names []string) {
	for i := range scopeNames {
		if s.Contains(scopeNames[i].bit) {
			names = append(names, scopeNames[i].name)
		}
	}
	return names
}

// AppendTo writes the names with spaces between them, as OAuth lists scopes.
func (s Scopes) AppendTo(dst []byte) []byte {
	for i, name := range s.Names() {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, name...)
	}
	return dst
}

func (s Scopes) String() string { return string(s.AppendTo(nil)) }
