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

// OperatorUser is an operator's account. Each change of the account sets a new value of Changed. So a
// session can compare it with its copy to see whether the account was changed.
type OperatorUser struct {
	Name     string
	Role     market.OperatorRole
	Password string // its hash
	Created  int64  // Unix nanoseconds
	Changed  int64  // Unix nanoseconds
}

// APIToken is a user's personal API token. Memory holds only its hash.
type APIToken struct {
	User    string
	Name    string
	Role    market.OperatorRole
	Hash    [32]byte
	Hint    string
	At      int64
	Expires int64 // Unix nanoseconds; zero: never
}

// IsExpired reports whether the token has expired at nowUnixNanos.
func (a *APIToken) IsExpired(nowUnixNanos int64) bool {
	return a.Expires != 0 && nowUnixNanos >= a.Expires
}

// operatorUserTable holds the operators' accounts by name, and their API tokens by hash. The
// entries are few and change rarely, so one read-write lock guards them.
type operatorUserTable struct {
	mu     sync.RWMutex
	users  map[string]OperatorUser
	tokens map[[32]byte]APIToken
}

// newOperatorUserTable returns a table without accounts.
func newOperatorUserTable() operatorUserTable {
	return operatorUserTable{users: make(map[string]OperatorUser), tokens: make(map[[32]byte]APIToken)}
}

// OperatorUser returns an operator's account by its name, or false if there is no such account.
func (s *State) OperatorUser(name string) (account OperatorUser, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	user, ok := s.users.users[name]
	return user, ok
}

// Users returns the accounts of all operators, sorted by name.
func (s *State) Users() []OperatorUser {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	all := make([]OperatorUser, 0, len(s.users.users))
	for _, user := range s.users.users {
		all = append(all, user)
	}
	slices.SortFunc(all, func(a, b OperatorUser) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// APIToken returns the API token with this hash and its user's account, to authenticate a
// request. found is false if no token has the hash. The caller checks the expiry.
func (s *State) APIToken(hash [32]byte) (apiToken APIToken, owner OperatorUser, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	token, ok := s.users.tokens[hash]
	return token, s.users.users[token.User], ok
}

// APITokens returns a user's API tokens, or the tokens of all users if userOrEmptyForAll is empty.
// The oldest is first. Expired tokens are included.
func (s *State) APITokens(userOrEmptyForAll string) (tokens []APIToken) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	for _, token := range s.users.tokens {
		if userOrEmptyForAll == "" || token.User == userOrEmptyForAll {
			tokens = append(tokens, token)
		}
	}
	slices.SortFunc(tokens, func(a, b APIToken) int {
		return cmp.Or(cmp.Compare(a.At, b.At), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return tokens
}

// applyUserAccountChanged creates, changes or removes the event's account. In each case it deletes
// all API tokens of the user.
func (t *operatorUserTable) applyUserAccountChanged(e *event.UserAccountChanged) {
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
	user := OperatorUser{Name: copyString(e.Name), Role: e.Role, Password: copyString(e.Password), Created: e.At, Changed: e.At}
	if before, ok := t.users[e.Name]; ok {
		user.Created, user.Changed = before.Created, max(e.At, before.Changed+1)
	}
	t.users[user.Name] = user
}

// applyAPITokenAddedOrRevoked adds the event's API token, or deletes a revoked one.
func (t *operatorUserTable) applyAPITokenAddedOrRevoked(e *event.APITokenAddedOrRevoked) {
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

// sumOfEntryHashes returns the accounts' part of State.Hash: the sum of the hashes of all users and
// tokens.
func (t *operatorUserTable) sumOfEntryHashes() (sum uint64) {
	for _, user := range t.users {
		sum += user.contentHash()
	}
	for _, token := range t.tokens {
		sum += token.contentHash()
	}
	return sum
}

func (u *OperatorUser) contentHash() uint64 {
	return newRunningHash(27).addBytes([]byte(u.Name)).addWord(uint64(u.Role)).addBytes([]byte(u.Password)).
		addWord(uint64(u.Created)).addWord(uint64(u.Changed)).sum()
}

func (a *APIToken) contentHash() uint64 {
	return newRunningHash(28).addBytes([]byte(a.User)).addBytes([]byte(a.Name)).addWord(uint64(a.Role)).addBytes(a.Hash[:]).
		addBytes([]byte(a.Hint)).addWord(uint64(a.At)).addWord(uint64(a.Expires)).sum()
}

func (t *operatorUserTable) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeMap(c, t.users, func(name *string, user *OperatorUser) {
		encodeOrDecodeString(c, name)
		encodeOrDecodeUvarint(c, &user.Role)
		encodeOrDecodeString(c, &user.Password)
		encodeOrDecodeZigzag(c, &user.Created)
		encodeOrDecodeZigzag(c, &user.Changed)
		user.Name = *name
	})
	encodeOrDecodeMap(c, t.tokens, func(hash *[32]byte, token *APIToken) {
		encodeOrDecodeFixedBytes(c, hash[:])
		encodeOrDecodeString(c, &token.User)
		encodeOrDecodeString(c, &token.Name)
		encodeOrDecodeUvarint(c, &token.Role)
		encodeOrDecodeString(c, &token.Hint)
		encodeOrDecodeZigzag(c, &token.At)
		encodeOrDecodeZigzag(c, &token.Expires)
		token.Hash = *hash
	})
}
