package state

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

// operatorUserTable holds the operators' accounts and second factors by name, and their API tokens and
// the invitations by hash. The entries are few and change rarely, so one read-write lock guards them.
type operatorUserTable struct {
	mu     sync.RWMutex
	users  map[string]OperatorUser
	tokens map[[32]byte]APIToken

	invitations   map[[32]byte]Invitation // by the hash of the token
	secondFactors map[string]SecondFactor // by the user's name
}

// newOperatorUserTable returns a table without accounts.
func newOperatorUserTable() operatorUserTable {
	return operatorUserTable{users: make(map[string]OperatorUser), tokens: make(map[[32]byte]APIToken), invitations: make(map[[32]byte]Invitation), secondFactors: make(map[string]SecondFactor)}
}

// OperatorUser returns an operator's account by its name, or false if there is no such account.
func (s *State) OperatorUser(name string) (account OperatorUser, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	user, ok := s.users.users[name]
	return user, ok
}

// OperatorUsers returns the accounts of all operators, sorted by name.
func (s *State) OperatorUsers() []OperatorUser {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	all := make([]OperatorUser, 0, len(s.users.users))
	for _, user := range s.users.users {
		all = append(all, user)
	}
	slices.SortFunc(all, func(a, b OperatorUser) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// APITokenEvenIfExpired returns the API token with this hash and its user's account, to authenticate a
// request. found is false if no token has the hash. The caller checks the expiry.
func (s *State) APITokenEvenIfExpired(hash [32]byte) (apiToken APIToken, owner OperatorUser, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	token, ok := s.users.tokens[hash]
	return token, s.users.users[token.User], ok
}

// APITokensWithExpired returns a user's API tokens, or the tokens of all users if userOrEmptyForAll is empty.
// The oldest is first. Expired tokens are included.
func (s *State) APITokensWithExpired(userOrEmptyForAll string) (tokens []APIToken) {
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
// all API tokens of the user. It also uses up the invitation that the event names. An account that
// is no longer an admin's loses its open invitations, so that a removed admin cannot come back.
func (t *operatorUserTable) applyUserAccountChanged(e *event.UserAccountChanged) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, token := range t.tokens {
		if token.User == e.Name {
			delete(t.tokens, hash)
		}
	}
	if e.Removed || e.Role != market.RoleAdmin {
		t.closeInvitationsLocked(func(i *Invitation) bool { return i.By == e.Name }, InvitationRevoked, e.At)
	}
	t.closeInvitationsLocked(func(i *Invitation) bool { return i.Hash == e.Invitation }, InvitationUsed, e.At)
	if e.Removed {
		delete(t.users, e.Name)
		delete(t.secondFactors, e.Name)
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

// sumOfEntryHashes returns the accounts' part of State.Hash: the sum of the hashes of all users,
// tokens, invitations and second factors.
func (t *operatorUserTable) sumOfEntryHashes() (sum uint64) {
	for _, user := range t.users {
		sum += user.contentHash()
	}
	for _, token := range t.tokens {
		sum += token.contentHash()
	}
	for _, invitation := range t.invitations {
		sum += invitation.contentHash()
	}
	for _, factor := range t.secondFactors {
		sum += factor.contentHash()
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
	if !c.hasFieldsSinceVersion(versionTeam) {
		return
	}
	encodeOrDecodeMap(c, t.invitations, func(hash *[32]byte, invitation *Invitation) {
		encodeOrDecodeFixedBytes(c, hash[:])
		encodeOrDecodeUvarint(c, &invitation.Status)
		encodeOrDecodeUvarint(c, &invitation.Role)
		encodeOrDecodeString(c, &invitation.Name)
		encodeOrDecodeString(c, &invitation.By)
		encodeOrDecodeZigzag(c, &invitation.At)
		encodeOrDecodeZigzag(c, &invitation.Expires)
		encodeOrDecodeZigzag(c, &invitation.Closed)
		invitation.Hash = *hash
	})
	encodeOrDecodeMap(c, t.secondFactors, func(user *string, factor *SecondFactor) {
		encodeOrDecodeString(c, user)
		encodeOrDecodeBool(c, &factor.Active)
		encodeOrDecodeBytes(c, &factor.Sealed)
		encodeOrDecodeUvarint(c, &factor.LastStep)
		encodeOrDecodeZigzag(c, &factor.At)
		encodeOrDecodeList(c, &factor.Recovery, func(hash *event.RecoveryCodeHash) { encodeOrDecodeFixedBytes(c, hash[:]) })
		factor.User = *user
	})
}

// InvitationStatus says whether an invitation is open. An open one may have expired.
type InvitationStatus uint8

const (
	InvitationOpen    InvitationStatus = 1
	InvitationUsed    InvitationStatus = 2
	InvitationRevoked InvitationStatus = 3
)

// Invitation lets its holder open an operator's account. Memory holds only the hash of its token.
type Invitation struct {
	Hash    [32]byte
	Status  InvitationStatus
	Role    market.OperatorRole
	Name    string // of the account; empty: the invited person chooses it
	By      string // the inviting operator
	At      int64
	Expires int64 // Unix nanoseconds
	Closed  int64 // when it was used or revoked; zero: it is open
}

// IsAcceptable reports whether the invitation is open and not expired at nowUnixNanos.
func (i *Invitation) IsAcceptable(nowUnixNanos int64) bool {
	return i.Status == InvitationOpen && nowUnixNanos < i.Expires
}

// SecondFactor is a user's second factor, a TOTP secret. Memory holds the secret encrypted, and only
// hashes of the recovery codes.
type SecondFactor struct {
	User     string
	Active   bool // the user has confirmed it, so sign-in requires it
	Sealed   []byte
	LastStep uint64 // the time step of the last accepted code; codes of it and earlier ones are used up
	At       int64  // when it was enrolled or confirmed
	Recovery []event.RecoveryCodeHash
}

// InvitationEvenIfClosed returns the invitation whose token has this hash, or false if there is none.
func (s *State) InvitationEvenIfClosed(hash [32]byte) (invitation Invitation, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	invitation, found = s.users.invitations[hash]
	return invitation, found
}

// InvitationsWithClosed returns all invitations, the newest first. Used, revoked and expired ones are
// included for some time.
func (s *State) InvitationsWithClosed() []Invitation {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	all := slices.Collect(maps.Values(s.users.invitations))
	slices.SortFunc(all, func(a, b Invitation) int {
		return cmp.Or(cmp.Compare(b.At, a.At), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return all
}

// SecondFactorEvenIfUnconfirmed returns a user's second factor, or false if the user has none. The
// caller must not change its slices.
func (s *State) SecondFactorEvenIfUnconfirmed(user string) (factor SecondFactor, found bool) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	factor, found = s.users.secondFactors[user]
	return factor, found
}

const (
	// keepClosedInvitations is how long after its expiry an invitation is remembered, also if it was
	// used or revoked before, so that its link says why it does not work.
	keepClosedInvitations = int64(30 * 24 * time.Hour)
	// maxInvitations limits the invitations in memory. The engine limits the acceptable ones to half
	// of that, so there is always a closed or expired one to forget.
	maxInvitations = 2000
)

// applyInvitationChanged adds the event's invitation or revokes it. Before it adds one, it forgets
// old ones that have ended.
func (t *operatorUserTable) applyInvitationChanged(e *event.InvitationCreatedOrRevoked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Revoked {
		t.closeInvitationsLocked(func(i *Invitation) bool { return i.Hash == e.Hash }, InvitationRevoked, e.At)
		return
	}
	maps.DeleteFunc(t.invitations, func(_ [32]byte, i Invitation) bool { return i.Expires+keepClosedInvitations <= e.At })
	if len(t.invitations) >= maxInvitations {
		t.forgetOldestEndedInvitationLocked(e.At)
	}
	t.invitations[e.Hash] = Invitation{
		Hash: e.Hash, Status: InvitationOpen, Role: e.Role, Name: copyString(e.Name), By: copyString(e.By), At: e.At, Expires: e.Expires,
	}
}

// forgetOldestEndedInvitationLocked removes the oldest invitation that cannot be accepted at
// nowUnixNanos. The caller holds t.mu.
func (t *operatorUserTable) forgetOldestEndedInvitationLocked(nowUnixNanos int64) {
	var oldest *Invitation
	for _, i := range t.invitations {
		if !i.IsAcceptable(nowUnixNanos) && (oldest == nil || cmp.Or(cmp.Compare(i.At, oldest.At), bytes.Compare(i.Hash[:], oldest.Hash[:])) < 0) {
			oldest = &i
		}
	}
	if oldest != nil {
		delete(t.invitations, oldest.Hash)
	}
}

// closeInvitationsLocked sets the status of the open invitations that shouldClose selects. The caller
// holds t.mu.
func (t *operatorUserTable) closeInvitationsLocked(shouldClose func(*Invitation) bool, status InvitationStatus, atUnixNanos int64) {
	for hash, i := range t.invitations {
		if i.Status == InvitationOpen && shouldClose(&i) {
			i.Status, i.Closed = status, atUnixNanos
			t.invitations[hash] = i
		}
	}
}

// applySecondFactorChanged adds, confirms, uses or removes the event's second factor. It replaces
// the list of recovery codes and never changes it in place, because readers share it.
func (t *operatorUserTable) applySecondFactorChanged(e *event.UserSecondFactorChangedOrUsed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	factor := t.secondFactors[e.User]
	switch e.Change {
	case event.SecondFactorEnrolled:
		factor = SecondFactor{User: copyString(e.User), Sealed: slices.Clone(e.Sealed), At: e.At}
	case event.SecondFactorConfirmed:
		factor.Active, factor.At, factor.Recovery = true, e.At, slices.Clone(e.Recovery)
		factor.LastStep = max(factor.LastStep, e.Step)
	case event.SecondFactorUsed:
		factor.LastStep = max(factor.LastStep, e.Step)
		factor.Recovery = slices.DeleteFunc(slices.Clone(factor.Recovery), func(h event.RecoveryCodeHash) bool { return slices.Contains(e.Recovery, h) })
	default:
		delete(t.secondFactors, e.User)
		return
	}
	if factor.User != "" {
		t.secondFactors[factor.User] = factor
	}
}

func (i *Invitation) contentHash() uint64 {
	return newRunningHash(31).addBytes(i.Hash[:]).addWord(uint64(i.Status)).addWord(uint64(i.Role)).addBytes([]byte(i.Name)).
		addBytes([]byte(i.By)).addWord(uint64(i.At)).addWord(uint64(i.Expires)).addWord(uint64(i.Closed)).sum()
}

func (f *SecondFactor) contentHash() uint64 {
	h := newRunningHash(30).addBytes([]byte(f.User)).addWord(boolAsUint(f.Active)).addBytes(f.Sealed).addWord(f.LastStep).addWord(uint64(f.At))
	for _, hash := range f.Recovery {
		h = h.addBytes(hash[:])
	}
	return h.sum()
}
