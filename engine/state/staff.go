package state

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// User is an operator with an account. No two values of one user are equal, so a session
// can check whether its user is unchanged.
type User struct {
	Name     string
	Role     market.Role
	Password string // its hash
	Created  int64  // Unix nanoseconds
	Changed  int64
}

// APIToken is a user's personal API token. Memory holds only its hash.
type APIToken struct {
	User    string
	Name    string
	Role    market.Role
	Hash    [32]byte
	Hint    string
	At      int64
	Expires int64 // Unix nanoseconds; zero: never
}

// IsExpired reports whether the token has expired at now, in Unix nanoseconds.
func (a *APIToken) IsExpired(now int64) bool { return a.Expires != 0 && now >= a.Expires }

// staff holds the operators by name, and their tokens by hash. They are few and change
// rarely; readers share the lock.
type staff struct {
	mu     sync.RWMutex
	users  map[string]User
	tokens map[[32]byte]APIToken
}

func newStaff() staff {
	return staff{users: make(map[string]User), tokens: make(map[[32]byte]APIToken)}
}

// User returns an operator's account by its name.
func (s *State) User(name string) (User, bool) {
	s.staff.mu.RLock()
	defer s.staff.mu.RUnlock()
	user, ok := s.staff.users[name]
	return user, ok
}

// Users returns all users, sorted by name.
func (s *State) Users() []User {
	s.staff.mu.RLock()
	defer s.staff.mu.RUnlock()
	all := make([]User, 0, len(s.staff.users))
	for _, user := range s.staff.users {
		all = append(all, user)
	}
	slices.SortFunc(all, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// APIToken returns the token with this hash, and its user's account.
func (s *State) APIToken(hash [32]byte) (APIToken, User, bool) {
	s.staff.mu.RLock()
	defer s.staff.mu.RUnlock()
	token, ok := s.staff.tokens[hash]
	return token, s.staff.users[token.User], ok
}

// APITokens returns a user's tokens, or all tokens if the name is empty, the oldest first.
func (s *State) APITokens(user string) (all []APIToken) {
	s.staff.mu.RLock()
	defer s.staff.mu.RUnlock()
	for _, token := range s.staff.tokens {
		if user == "" || token.User == user {
			all = append(all, token)
		}
	}
	slices.SortFunc(all, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.At, b.At), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return all
}

func (t *staff) setUser(e *event.UserSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, token := range t.tokens {
		if token.User == e.Name {
			delete(t.tokens, hash)
		}
	}
	if e.Removed {
		delete(t.users, e.Name)
		return
	}
	user := User{Name: clone(e.Name), Role: e.Role, Password: clone(e.Password), Created: e.At, Changed: e.At}
	if before, ok := t.users[e.Name]; ok {
		user.Created, user.Changed = before.Created, max(e.At, before.Changed+1)
	}
	t.users[user.Name] = user
}

func (t *staff) setAPIToken(e *event.APITokenSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Revoked {
		delete(t.tokens, e.Hash)
		return
	}
	t.tokens[e.Hash] = APIToken{
		User: clone(e.User), Name: clone(e.Name), Role: e.Role, Hash: e.Hash, Hint: clone(e.Hint), At: e.At, Expires: e.Expires,
	}
}

func (t *staff) digest() (sum uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, user := range t.users {
		sum += user.digest()
	}
	for _, token := range t.tokens {
		sum += token.digest()
	}
	return sum
}

func (u *User) digest() uint64 {
	return newDigest(27).bytes([]byte(u.Name)).word(uint64(u.Role)).bytes([]byte(u.Password)).
		word(uint64(u.Created)).word(uint64(u.Changed)).sum()
}

func (a *APIToken) digest() uint64 {
	return newDigest(28).bytes([]byte(a.User)).bytes([]byte(a.Name)).word(uint64(a.Role)).bytes(a.Hash[:]).
		bytes([]byte(a.Hint)).word(uint64(a.At)).word(uint64(a.Expires)).sum()
}

func (t *staff) write(w *writer) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	w.uint(uint64(len(t.users)))
	for _, user := range t.users {
		w.string(user.Name)
		w.uint(uint64(user.Role))
		w.string(user.Password)
		w.int(user.Created)
		w.int(user.Changed)
	}
	w.uint(uint64(len(t.tokens)))
	for hash, token := range t.tokens {
		w.raw(hash[:])
		w.string(token.User)
		w.string(token.Name)
		w.uint(uint64(token.Role))
		w.string(token.Hint)
		w.int(token.At)
		w.int(token.Expires)
	}
}

func (t *staff) read(r *reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range r.count() {
		user := User{Name: r.string(), Role: market.Role(r.uint()), Password: r.string(), Created: r.int(), Changed: r.int()}
		t.users[user.Name] = user
	}
	for range r.count() {
		var token APIToken
		copy(token.Hash[:], r.raw(32))
		token.User, token.Name, token.Role = r.string(), r.string(), market.Role(r.uint())
		token.Hint, token.At, token.Expires = r.string(), r.int(), r.int()
		t.tokens[token.Hash] = token
	}
}
