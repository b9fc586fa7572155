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

// Credential is an API key, a static token or a client secret, with which a supplier, a buyer or
// an OAuth client authenticates. The state holds its hash only, never its value.
type Credential struct {
	Kind    event.SupplierOrBuyerCredentialKind
	Owner   event.ConfigObjectKind
	Ref     market.PermanentNumber // the owner's number
	Client  string                 // the OAuth client whose secret this is
	Scopes  event.OAuthScopes
	Hash    [32]byte
	Hint    string
	At      int64
	LastUse *CredentialLastUseMinute // never nil in the results of State
}

// settingsOutsideConfig holds the settings that no activation of a configuration resets: credentials,
// secrets, pauses and the files of suppression lists. The entries are few and change rarely, so
// one read-write lock guards all of them. Secrets are values that the exchange presents to buyers
// and suppliers.
type settingsOutsideConfig struct {
	mu      sync.RWMutex
	byHash  map[[32]byte]Credential
	existed map[existedCredentialKey]bool // credentials that existed once; the first value of a configuration file is then ignored
	secrets map[string][]byte             // sealed, by name
	paused  map[campaignOrBuyerKey]bool
	lists   map[market.PermanentNumber]SuppressionListFile
}

// existedCredentialKey names a credential independently of its value: the API key of a supplier, or the
// secret of an OAuth client. A static token is named by its hash. The configuration file gives the
// first value of a credential. HasCredentialEverExisted uses this key, so that a later start ignores
// that first value.
type existedCredentialKey struct {
	credential event.SupplierOrBuyerCredentialKind
	owner      event.ConfigObjectKind
	ref        market.PermanentNumber
	name       string // the client's name, or the token's hash
}

// existedCredentialKeyOf returns the key of the credential that the event adds or revokes.
func existedCredentialKeyOf(e *event.CredentialAddedOrRevoked) existedCredentialKey {
	key := existedCredentialKey{credential: e.Credential, owner: e.Owner, ref: e.OwnerRef}
	switch e.Credential {
	case event.CredentialOAuthClient:
		key.name = copyString(e.Client)
	case event.CredentialBearer:
		key.name = string(e.Hash[:])
	}
	return key
}

// campaignOrBuyerKey names a campaign or a buyer that an operator can pause.
type campaignOrBuyerKey struct {
	target event.ConfigObjectKind
	ref    market.PermanentNumber
}

// SuppressionListFile describes the file with the current entries of a suppression list. Such a file
// never changes: an upload makes a new file.
type SuppressionListFile struct {
	File    string // hex SHA-256 of the file
	Source  string // hex SHA-256 of the lines it was made from
	Entries uint64

	At       int64 // zero: loaded from a snapshot of an earlier program
	By       string
	Uploaded bool // false: the first content, from the list's configured file
}

// newSettingsOutsideConfig returns settings without entries.
func newSettingsOutsideConfig() settingsOutsideConfig {
	return settingsOutsideConfig{
		byHash: make(map[[32]byte]Credential), existed: make(map[existedCredentialKey]bool),
		secrets: make(map[string][]byte), paused: make(map[campaignOrBuyerKey]bool), lists: make(map[market.PermanentNumber]SuppressionListFile),
	}
}

// CredentialByHash returns the credential whose value has this hash. The result is false if no
// live credential has the hash. The server calls it to authenticate a request.
func (s *State) CredentialByHash(hash [32]byte) (credential Credential, found bool) {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	c, ok := s.settings.byHash[hash]
	return c, ok
}

// HasCredentialEverExisted reports whether an earlier event has set the credential that e names,
// even if it was revoked since. For an API key or a client secret, any earlier value counts; for
// a static token, only this token.
func (s *State) HasCredentialEverExisted(e *event.CredentialAddedOrRevoked) bool {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	return s.settings.existed[existedCredentialKeyOf(e)]
}

// OwnerOfOAuthClient returns the supplier or buyer that owns an OAuth client. found is false if the
// client has no live secret.
func (s *State) OwnerOfOAuthClient(clientID string) (ownerKind event.ConfigObjectKind, ownerRef market.PermanentNumber, found bool) {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	for _, c := range s.settings.byHash {
		if c.Kind == event.CredentialOAuthClient && c.Client == clientID {
			return c.Owner, c.Ref, true
		}
	}
	return 0, 0, false
}

// CredentialsOf returns the live credentials of one kind that a supplier or buyer has, the oldest
// first.
func (s *State) CredentialsOf(kind event.SupplierOrBuyerCredentialKind, ownerKind event.ConfigObjectKind, ownerRef market.PermanentNumber) []Credential {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	var own []Credential
	for _, c := range s.settings.byHash {
		if c.Kind == kind && c.Owner == ownerKind && c.Ref == ownerRef {
			own = append(own, c)
		}
	}
	sortCredentialsOldestFirst(own)
	return own
}

// SealedSecret returns a secret in its encrypted (sealed) form, by the secret's name. found is false
// if no secret has this name.
func (s *State) SealedSecret(secretName string) (sealed []byte, found bool) {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	sealed, found = s.settings.secrets[secretName]
	return sealed, found
}

// SecretNames returns the names of all stored secrets, sorted.
func (s *State) SecretNames() []string {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.settings.secrets))
}

// PauseStatus reports whether an operator has paused a campaign or a buyer. everPausedOrResumed
// reports whether an operator ever paused or resumed it.
func (s *State) PauseStatus(targetKind event.ConfigObjectKind, ref market.PermanentNumber) (paused, everPausedOrResumed bool) {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	paused, everPausedOrResumed = s.settings.paused[campaignOrBuyerKey{targetKind, ref}]
	return paused, everPausedOrResumed
}

// SuppressionListFile returns the file with the current entries of a suppression list, or false if no
// file was loaded yet.
func (s *State) SuppressionListFile(list market.PermanentNumber) (current SuppressionListFile, found bool) {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	file, ok := s.settings.lists[list]
	return file, ok
}

// applyCredentialAddedOrRevoked adds the event's credential, or deletes a revoked one. Other
// credentials of the owner stay. A credential that is set again, with the same hash, keeps its last
// use.
func (a *settingsOutsideConfig) applyCredentialAddedOrRevoked(e *event.CredentialAddedOrRevoked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.existed[existedCredentialKeyOf(e)] = true
	if e.Revoked {
		delete(a.byHash, e.Hash)
		return
	}
	used := a.byHash[e.Hash].LastUse // set again
	if used == nil {
		used = new(CredentialLastUseMinute)
	}
	a.byHash[e.Hash] = Credential{
		Kind: e.Credential, Owner: e.Owner, Ref: e.OwnerRef, Client: copyString(e.Client), Scopes: e.Scopes,
		Hash: e.Hash, Hint: copyString(e.Hint), At: e.At, LastUse: used,
	}
}

// applySecretStoredOrDeleted stores the event's secret under its name. An event without a value
// deletes the secret.
func (a *settingsOutsideConfig) applySecretStoredOrDeleted(e *event.SecretStoredOrDeleted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(e.Sealed) == 0 {
		delete(a.secrets, e.Name)
		return
	}
	a.secrets[copyString(e.Name)] = append([]byte(nil), e.Sealed...)
}

// applyPausedOrResumed stores whether the event's campaign or buyer is paused.
func (a *settingsOutsideConfig) applyPausedOrResumed(e *event.CampaignOrBuyerPausedOrResumed) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused[campaignOrBuyerKey{e.Target, e.Ref}] = e.Paused
}

// applySuppressionListReplaced makes the event's file the current content of its suppression list.
func (a *settingsOutsideConfig) applySuppressionListReplaced(e *event.SuppressionListContentLoaded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists[e.List] = SuppressionListFile{
		File: copyString(e.File), Source: copyString(e.Source), Entries: e.Entries, At: e.At, By: copyString(e.By), Uploaded: e.Uploaded,
	}
}

// sumOfEntryHashes returns the settings' part of State.Hash: the sum of the hashes of all entries.
func (a *settingsOutsideConfig) sumOfEntryHashes() (sum uint64) {
	for _, c := range a.byHash {
		sum += c.contentHash()
	}
	for key := range a.existed {
		sum += key.contentHash()
	}
	for name, sealed := range a.secrets {
		sum += newRunningHash(12).addBytes([]byte(name)).addBytes(sealed).sum()
	}
	for key, paused := range a.paused {
		sum += newRunningHash(13).addWord(uint64(key.target)).addWord(uint64(key.ref)).addWord(boolAsUint(paused)).sum()
	}
	for ref, file := range a.lists {
		sum += newRunningHash(14).addWord(uint64(ref)).addBytes([]byte(file.File)).addBytes([]byte(file.Source)).addWord(file.Entries).sum()
		if file.Uploaded { // entries of earlier programs keep their hash
			sum += newRunningHash(25).addWord(uint64(ref)).addBytes([]byte(file.By)).addWord(uint64(file.At)).sum()
		}
	}
	return sum
}

// contentHash hashes the fields that events determine, so LastUse is left out.
func (c *Credential) contentHash() uint64 {
	return newRunningHash(10).addBytes(c.Hash[:]).addWord(uint64(c.Kind)).addWord(uint64(c.Owner)).addWord(uint64(c.Ref)).
		addBytes([]byte(c.Hint)).addWord(uint64(c.At)).addBytes([]byte(c.Client)).addWord(uint64(c.Scopes)).sum()
}

// contentHash hashes all fields, for State.Hash.
func (k *existedCredentialKey) contentHash() uint64 {
	return newRunningHash(11).addWord(uint64(k.credential)).addWord(uint64(k.owner)).addWord(uint64(k.ref)).addBytes([]byte(k.name)).sum()
}

// SuppressionFileHashesInUse returns the names of the files that suppression lists use, sorted and
// without repeats. The caller keeps these files and may delete others. Lists that left the
// configuration are included: if such a list returns, it continues with its old content.
func (s *State) SuppressionFileHashesInUse() []string {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	files := make([]string, 0, len(s.settings.lists))
	for _, list := range s.settings.lists {
		files = append(files, list.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// CredentialLastUseMinute is the minute of a credential's last use, for display to operators. It is in
// no event, no snapshot and no hash, and no decision depends on it.
//
// Within one minute the first request writes it and later requests only read it. It has a cache
// line of its own, so that concurrent readers share that line without lock or allocation.
type CredentialLastUseMinute struct {
	minute atomic.Int64 // of Unix time; zero: unknown
	_      [56]byte
}

// RecordUse records that the credential was used at unixNanos. If two calls for different minutes
// run concurrently, either may win.
func (u *CredentialLastUseMinute) RecordUse(unixNanos int64) {
	if minute := unixNanos / int64(time.Minute); minute > u.minute.Load() {
		u.minute.Store(minute)
	}
}

// MinuteUnixNanos returns the beginning of the minute of the last use in Unix nanoseconds, or zero if
// no use is known.
func (u *CredentialLastUseMinute) MinuteUnixNanos() int64 {
	return u.minute.Load() * int64(time.Minute)
}

// LastUseUnixNanosByCredential returns, by the credential's hash, when each live credential was
// last used, in Unix nanoseconds. Credentials without a known use are left out.
func (s *State) LastUseUnixNanosByCredential() map[[32]byte]int64 {
	s.settings.mu.RLock()
	defer s.settings.mu.RUnlock()
	uses := make(map[[32]byte]int64)
	for hash, c := range s.settings.byHash {
		if at := c.LastUse.MinuteUnixNanos(); at != 0 {
			uses[hash] = at
		}
	}
	return uses
}
