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

// User is an operator's account. Changed differs between any two versions of one account, so a
// session can compare its copy to see whether the account was changed.
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

// userTable holds the operators' accounts by name, and their API tokens by hash. The entries are
// few and change rarely, so one read-write lock guards them.
type userTable struct {
	mu     sync.RWMutex
	users  map[string]User
	tokens map[[32]byte]APIToken
}

// newUserTable returns a table without accounts.
func newUserTable() userTable {
	return userTable{users: make(map[string]User), tokens: make(map[[32]byte]APIToken)}
}

// User returns an operator's account by its name, or false if there is no such account.
func (s *State) User(name string) (User, bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	user, ok := s.users.users[name]
	return user, ok
}

// Users returns all users, sorted by name.
func (s *State) Users() []User {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	all := make([]User, 0, len(s.users.users))
	for _, user := range s.users.users {
		all = append(all, user)
	}
	slices.SortFunc(all, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// APIToken returns the API token with this hash and its user's account, to authenticate a
// request. The bool is false if no token has the hash. The caller checks the expiry.
func (s *State) APIToken(hash [32]byte) (APIToken, User, bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	token, ok := s.users.tokens[hash]
	return token, s.users.users[token.User], ok
}

// APITokens returns a user's API tokens, or the tokens of all users if user is empty. The oldest
// is first. Expired tokens are included.
func (s *State) APITokens(user string) (all []APIToken) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	for _, token := range s.users.tokens {
		if user == "" || token.User == user {
			all = append(all, token)
		}
	}
	slices.SortFunc(all, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.At, b.At), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return all
}

// applyUserSet creates, changes or removes the event's account. In each case it deletes all API
// tokens of the user.
func (t *userTable) applyUserSet(e *event.UserSet) {
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
	user := User{Name: copyString(e.Name), Role: e.Role, Password: copyString(e.Password), Created: e.At, Changed: e.At}
	if before, ok := t.users[e.Name]; ok {
		user.Created, user.Changed = before.Created, max(e.At, before.Changed+1)
	}
	t.users[user.Name] = user
}

// applyAPITokenSet adds the event's API token, or deletes a revoked one.
func (t *userTable) applyAPITokenSet(e *event.APITokenSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Revoked {
		delete(t.tokens, e.Hash)
		return
	}
	t.tokens[e.Hash] = APIToken{
		User: copyString(e.User), Name: copyString(e.Name), Role: e.Role, Hash: e.Hash, Hint: copyString(e.Hint), At: e.At, Expires: e.Expires,
	}
}

// digest returns the accounts' part of State.Hash: the sum of the hashes of all users and tokens.
func (t *userTable) digest() (sum uint64) {
	for _, user := range t.users {
		sum += user.digest()
	}
	for _, token := range t.tokens {
		sum += token.digest()
	}
	return sum
}

func (u *User) digest() uint64 {
	return newDigest(27).addBytes([]byte(u.Name)).addWord(uint64(u.Role)).addBytes([]byte(u.Password)).
		addWord(uint64(u.Created)).addWord(uint64(u.Changed)).sum()
}

func (a *APIToken) digest() uint64 {
	return newDigest(28).addBytes([]byte(a.User)).addBytes([]byte(a.Name)).addWord(uint64(a.Role)).addBytes(a.Hash[:]).
		addBytes([]byte(a.Hint)).addWord(uint64(a.At)).addWord(uint64(a.Expires)).sum()
}

func (t *userTable) snapshotFields(c *sectionCodec) {
	mapField(c, t.users, func(name *string, user *User) {
		stringField(c, name)
		uintField(c, &user.Role)
		stringField(c, &user.Password)
		intField(c, &user.Created)
		intField(c, &user.Changed)
		user.Name = *name
	})
	mapField(c, t.tokens, func(hash *[32]byte, token *APIToken) {
		arrayField(c, hash[:])
		stringField(c, &token.User)
		stringField(c, &token.Name)
		uintField(c, &token.Role)
		stringField(c, &token.Hint)
		intField(c, &token.At)
		intField(c, &token.Expires)
		token.Hash = *hash
	})
}
