package state

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Credential authenticates a supplier, a buyer or an OAuth client. Memory holds only its
// hash.
type Credential struct {
	Kind   event.CredentialKind
	Owner  event.NameKind
	Ref    market.Ref // the owner's number
	Client string     // the OAuth client whose secret this is
	Scopes event.Scopes
	Hash   [32]byte
	Hint   string
	At     int64
	Used   *LastUse // never nil in the results of State
}

// access holds credentials by hash, the secrets that the exchange itself presents, pauses,
// and list files. All are few and change rarely; readers share the lock.
type access struct {
	mu      sync.RWMutex
	byHash  map[[32]byte]Credential
	ever    map[firstCredential]bool // credentials that existed once; the first value of a configuration file is then ignored
	secrets map[string][]byte        // sealed, by name
	paused  map[pauseKey]bool
	lists   map[market.Ref]ListFile
}

// firstCredential identifies a credential whose first value a configuration file gives: a
// supplier's API key, the secret of a client, a static token.
type firstCredential struct {
	credential event.CredentialKind
	owner      event.NameKind
	ref        market.Ref
	name       string // the client's name, or the token's hash
}

func firstCredentialOf(e *event.CredentialSet) firstCredential {
	key := firstCredential{credential: e.Credential, owner: e.Owner, ref: e.OwnerRef}
	switch e.Credential {
	case event.CredentialOAuthClient:
		key.name = clone(e.Client)
	case event.CredentialBearer:
		key.name = string(e.Hash[:])
	}
	return key
}

type pauseKey struct {
	target event.NameKind
	ref    market.Ref
}

// ListFile is the current content of a suppression list: an immutable file.
type ListFile struct {
	File    string // hex SHA-256 of the file
	Source  string // hex SHA-256 of the lines it was made from
	Entries uint64

	At       int64 // zero: loaded from a snapshot of an earlier program
	By       string
	Uploaded bool // false: the first content, from the list's configured file
}

func newAccess() access {
	return access{
		byHash: make(map[[32]byte]Credential), ever: make(map[firstCredential]bool),
		secrets: make(map[string][]byte), paused: make(map[pauseKey]bool), lists: make(map[market.Ref]ListFile),
	}
}

// Credential returns the credential with this hash.
func (s *State) Credential(hash [32]byte) (Credential, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	c, ok := s.access.byHash[hash]
	return c, ok
}

// HadCredential reports whether the credential of the event existed before: the supplier
// had a key, the client a secret, or the token was known.
func (s *State) HadCredential(e *event.CredentialSet) bool {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	return s.access.ever[firstCredentialOf(e)]
}

// OwnerOfClient returns the owner of a live secret of an OAuth client.
func (s *State) OwnerOfClient(client string) (owner event.NameKind, ref market.Ref, ok bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	for _, c := range s.access.byHash {
		if c.Kind == event.CredentialOAuthClient && c.Client == client {
			return c.Owner, c.Ref, true
		}
	}
	return 0, 0, false
}

// CredentialsOf lists an owner's live credentials of a kind, oldest first.
func (s *State) CredentialsOf(kind event.CredentialKind, owner event.NameKind, ref market.Ref) []Credential {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	var own []Credential
	for _, c := range s.access.byHash {
		if c.Kind == kind && c.Owner == owner && c.Ref == ref {
			own = append(own, c)
		}
	}
	sortCredentials(own)
	return own
}

// Secret returns a sealed secret by its name.
func (s *State) Secret(name string) ([]byte, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	sealed, ok := s.access.secrets[name]
	return sealed, ok
}

// SecretNames returns the names of all sealed secrets, in order.
func (s *State) SecretNames() []string {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.access.secrets))
}

// Paused reports whether an operator has paused a campaign or a buyer. seen reports
// whether an operator ever set a pause for it.
func (s *State) Paused(door event.NameKind, ref market.Ref) (paused, seen bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	paused, seen = s.access.paused[pauseKey{door, ref}]
	return paused, seen
}

// List returns the current file of a suppression list.
func (s *State) List(ref market.Ref) (ListFile, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	file, ok := s.access.lists[ref]
	return file, ok
}

// HasOpeningBalance reports whether an event has set the buyer's opening balance.
func (s *State) HasOpeningBalance(buyer market.Ref) bool {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	acc := s.accounts.byRef[buyer]
	return acc != nil && acc.opened
}

func (a *access) setCredential(e *event.CredentialSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ever[firstCredentialOf(e)] = true
	if e.Revoked {
		delete(a.byHash, e.Hash)
		return
	}
	used := a.byHash[e.Hash].Used // set again
	if used == nil {
		used = new(LastUse)
	}
	a.byHash[e.Hash] = Credential{
		Kind: e.Credential, Owner: e.Owner, Ref: e.OwnerRef, Client: clone(e.Client), Scopes: e.Scopes,
		Hash: e.Hash, Hint: clone(e.Hint), At: e.At, Used: used,
	}
}

// setSecret stores a secret, or deletes it if the event has no value.
func (a *access) setSecret(e *event.SecretSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(e.Sealed) == 0 {
		delete(a.secrets, e.Name)
		return
	}
	a.secrets[clone(e.Name)] = append([]byte(nil), e.Sealed...)
}

func (a *access) setPause(e *event.PauseSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused[pauseKey{e.Target, e.Ref}] = e.Paused
}

func (a *access) setList(e *event.ListLoaded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists[e.List] = ListFile{
		File: clone(e.File), Source: clone(e.Source), Entries: e.Entries, At: e.At, By: clone(e.By), Uploaded: e.Uploaded,
	}
}

func (a *access) digest() (sum uint64) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, c := range a.byHash {
		sum += c.digest()
	}
	for key := range a.ever {
		sum += key.digest()
	}
	for name, sealed := range a.secrets {
		sum += newDigest(12).bytes([]byte(name)).bytes(sealed).sum()
	}
	for key, paused := range a.paused {
		sum += newDigest(13).word(uint64(key.target)).word(uint64(key.ref)).word(flag(paused)).sum()
	}
	for ref, file := range a.lists {
		sum += newDigest(14).word(uint64(ref)).bytes([]byte(file.File)).bytes([]byte(file.Source)).word(file.Entries).sum()
		if file.Uploaded { // entries of earlier programs keep their hash
			sum += newDigest(25).word(uint64(ref)).bytes([]byte(file.By)).word(uint64(file.At)).sum()
		}
	}
	return sum
}

func (c *Credential) digest() uint64 {
	return newDigest(10).bytes(c.Hash[:]).word(uint64(c.Kind)).word(uint64(c.Owner)).word(uint64(c.Ref)).
		bytes([]byte(c.Hint)).word(uint64(c.At)).bytes([]byte(c.Client)).word(uint64(c.Scopes)).sum()
}

func (k *firstCredential) digest() uint64 {
	return newDigest(11).word(uint64(k.credential)).word(uint64(k.owner)).word(uint64(k.ref)).bytes([]byte(k.name)).sum()
}

// ListFiles returns the names of all current list files. It includes lists that left the
// configuration: if such a list returns, it continues with its old content.
func (s *State) ListFiles() []string {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	files := make([]string, 0, len(s.access.lists))
	for _, list := range s.access.lists {
		files = append(files, list.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// LastUse is the minute of a credential's last use. It is beside the events, in no
// snapshot and no hash, and no decision depends on it.
//
// The requests of one minute write it once and otherwise only read it. It has a cache line
// of its own, so that readers share that line without lock or allocation.
type LastUse struct {
	minute atomic.Int64 // of Unix time; zero: unknown
	_      [56]byte
}

// Record records a use at this time, in Unix nanoseconds. Of two concurrent calls at the
// turn of a minute, either may win.
func (u *LastUse) Record(at int64) {
	if minute := at / int64(time.Minute); minute > u.minute.Load() {
		u.minute.Store(minute)
	}
}

// At returns the beginning of that minute in Unix nanoseconds; zero: no known use.
func (u *LastUse) At() int64 { return u.minute.Load() * int64(time.Minute) }

// LastUses returns the last use of each live credential that was used, by the credential's
// hash.
func (s *State) LastUses() map[[32]byte]int64 {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	uses := make(map[[32]byte]int64)
	for hash, c := range s.access.byHash {
		if at := c.Used.At(); at != 0 {
			uses[hash] = at
		}
	}
	return uses
}
