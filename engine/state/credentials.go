package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Credential is what opens the exchange to someone. Only its hash is known.
type Credential struct {
	Kind   event.CredentialKind
	Owner  event.NameKind
	Ref    market.Ref // the owner's number
	Client string     // the OAuth client that it is a secret of
	Scopes event.Scopes
	Hash   [32]byte
	Hint   string
	At     int64
	Used   *LastUse // never nil of one that State gives
}

// access keeps credentials by their hash, the secrets that the exchange itself
// presents, and the doors that operators have shut. All are few and change
// seldom; readers share the lock.
type access struct {
	mu      sync.RWMutex
	byHash  map[[32]byte]Credential
	ever    map[firstKey]bool // was there once: a file's first value is spent
	secrets map[string][]byte // sealed, by name
	paused  map[doorKey]bool
	lists   map[market.Ref]ListFile
}

// firstKey is what a file gives the first value of: a supplier's API key, the
// secret of each client, each static token.
type firstKey struct {
	credential event.CredentialKind
	owner      event.NameKind
	ref        market.Ref
	name       string // the client's, or the token's own hash
}

func firstOf(e *event.CredentialSet) firstKey {
	key := firstKey{credential: e.Credential, owner: e.Owner, ref: e.OwnerRef}
	switch e.Credential {
	case event.CredentialOAuthClient:
		key.name = clone(e.Client)
	case event.CredentialBearer:
		key.name = string(e.Hash[:])
	}
	return key
}

type doorKey struct {
	door event.NameKind
	ref  market.Ref
}

// ListFile is what a suppression list holds now: an immutable file.
type ListFile struct {
	File    string // hex SHA-256 of the file
	Source  string // hex SHA-256 of the lines it was made from
	Entries uint64

	At       int64 // zero where a snapshot of an earlier program did not say
	By       string
	Uploaded bool // else they are the first ones, from the list's file
}

func newAccess() access {
	return access{
		byHash: make(map[[32]byte]Credential), ever: make(map[firstKey]bool),
		secrets: make(map[string][]byte), paused: make(map[doorKey]bool), lists: make(map[market.Ref]ListFile),
	}
}

// Credential finds whose credential has this hash.
func (s *State) Credential(hash [32]byte) (Credential, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	c, ok := s.access.byHash[hash]
	return c, ok
}

// HadCredential tells whether the first value that this fact would give is
// spent: a supplier had a key once, a client a secret, or there was this token.
func (s *State) HadCredential(e *event.CredentialSet) bool {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	return s.access.ever[firstOf(e)]
}

// OwnerOfClient finds who has a live secret of an OAuth client.
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

// Secret is a sealed secret by its name.
func (s *State) Secret(name string) ([]byte, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	sealed, ok := s.access.secrets[name]
	return sealed, ok
}

// Paused tells whether an operator has shut a campaign or a buyer. seen is
// whether anyone ever said so or not.
func (s *State) Paused(door event.NameKind, ref market.Ref) (paused, seen bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	paused, seen = s.access.paused[doorKey{door, ref}]
	return paused, seen
}

// List is what a suppression list holds now.
func (s *State) List(ref market.Ref) (ListFile, bool) {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	file, ok := s.access.lists[ref]
	return file, ok
}

// Opened tells whether the buyer's opening balance was written.
func (s *State) Opened(buyer market.Ref) bool {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	acc := s.accounts.byRef[buyer]
	return acc != nil && acc.opened
}

func (a *access) setCredential(e *event.CredentialSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ever[firstOf(e)] = true
	if e.Revoked {
		delete(a.byHash, e.Hash)
		return
	}
	used := a.byHash[e.Hash].Used // said once more
	if used == nil {
		used = new(LastUse)
	}
	a.byHash[e.Hash] = Credential{
		Kind: e.Credential, Owner: e.Owner, Ref: e.OwnerRef, Client: clone(e.Client), Scopes: e.Scopes,
		Hash: e.Hash, Hint: clone(e.Hint), At: e.At, Used: used,
	}
}

// setSecret keeps a secret, or forgets one that is set to nothing.
func (a *access) setSecret(e *event.SecretSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(e.Sealed) == 0 {
		delete(a.secrets, e.Name)
		return
	}
	a.secrets[clone(e.Name)] = append([]byte(nil), e.Sealed...)
}

func (a *access) setDoor(e *event.DoorSet) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused[doorKey{e.Door, e.Ref}] = e.Paused
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
		sum += newDigest(13).word(uint64(key.door)).word(uint64(key.ref)).word(flag(paused)).sum()
	}
	for ref, file := range a.lists {
		sum += newDigest(14).word(uint64(ref)).bytes([]byte(file.File)).bytes([]byte(file.Source)).word(file.Entries).sum()
		if file.Uploaded { // what earlier programs wrote has the hash that it had
			sum += newDigest(25).word(uint64(ref)).bytes([]byte(file.By)).word(uint64(file.At)).sum()
		}
	}
	return sum
}

func (c *Credential) digest() uint64 {
	return newDigest(10).bytes(c.Hash[:]).word(uint64(c.Kind)).word(uint64(c.Owner)).word(uint64(c.Ref)).
		bytes([]byte(c.Hint)).word(uint64(c.At)).bytes([]byte(c.Client)).word(uint64(c.Scopes)).sum()
}

func (k *firstKey) digest() uint64 {
	return newDigest(11).word(uint64(k.credential)).word(uint64(k.owner)).word(uint64(k.ref)).bytes([]byte(k.name)).sum()
}
