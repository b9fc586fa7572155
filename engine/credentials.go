package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// Credential authenticates a supplier or a buyer. The engine gets its hash, never the
// credential.
type Credential struct {
	Kind   event.CredentialKind
	Owner  event.ObjectKind // supplier or buyer
	ID     string           // of the owner
	Client string           // for the secret of an OAuth client: its client id
	Scopes event.Scopes     // none for an API key
	Hash   [32]byte
	Hint   string

	Replaces string // hint of the active secret that this one revokes; empty: none
}

// maxActiveSecrets limits the active secrets of one client, and the active API keys of one
// supplier. With two, a rotation needs no pause.
const maxActiveSecrets = 2

// newCredential returns the event that adds a credential.
func (e Operator) newCredential(c *Credential) *event.CredentialSet {
	return &event.CredentialSet{
		Credential: c.Kind, Owner: c.Owner, OwnerRef: e.state.RefOf(c.Owner, c.ID), Client: c.Client,
		Scopes: c.Scopes, Hash: c.Hash, Hint: c.Hint, At: e.opt.Clock.Now(), By: e.by,
	}
}

// RotationError reports that two secrets are active, and that the new one does not say which
// it replaces.
type RotationError struct {
	Active []state.Credential // oldest first
}

func (e *RotationError) Error() string {
	return fmt.Sprintf("%d secrets are active already; name the secret that the new one replaces", len(e.Active))
}

// AddCredential activates a credential and revokes the one that it replaces. The revocation
// comes first, so that a crash between the two leaves no third secret. Errors: RotationError
// for one secret or API key too many; ErrConflict if another owner has the client id or the
// credential; ErrNotFound for an unknown owner.
func (e Operator) AddCredential(c *Credential) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	record := e.newCredential(c)
	if record.OwnerRef == 0 {
		return fmt.Errorf("%w: no supplier or buyer %q was ever configured", ErrNotFound, c.ID)
	}
	if c.Kind == event.CredentialOAuthClient {
		owner, ref, taken := e.state.OwnerOfClient(c.Client)
		if taken && (owner != record.Owner || ref != record.OwnerRef) {
			return fmt.Errorf("%w: the client %q belongs to another owner; revoke it there, or choose another name", ErrConflict, c.Client)
		}
	}
	if err := e.checkOwner(c); err != nil {
		return err
	}
	active := e.replaceable(record)
	replaced := slices.IndexFunc(active, func(r state.Credential) bool { return c.Replaces != "" && r.Hint == c.Replaces })
	if replaced < 0 && len(active) >= maxActiveSecrets {
		return &RotationError{Active: active}
	}
	if replaced >= 0 {
		if err := e.revoke(&active[replaced]); err != nil {
			return err
		}
	}
	return e.commit(record, nil)
}

// checkOwner returns ErrConflict if the credential already belongs to another supplier or
// buyer.
func (e *Engine) checkOwner(c *Credential) error {
	known, ok := e.state.Credential(c.Hash)
	if !ok || (known.Owner == c.Owner && known.Ref == e.state.RefOf(c.Owner, c.ID)) {
		return nil
	}
	return fmt.Errorf("%w: a key, secret or token for %q already belongs to %q; give each its own",
		ErrConflict, c.ID, e.state.NameOf(known.Owner, known.Ref))
}

// replaceable returns the active credentials that a new one can replace, oldest first.
func (e *Engine) replaceable(record *event.CredentialSet) (active []state.Credential) {
	if record.Credential == event.CredentialBearer {
		return nil // bearer tokens do not replace each other
	}
	for _, c := range e.state.CredentialsOf(record.Credential, record.Owner, record.OwnerRef) {
		if c.Client == record.Client {
			active = append(active, c)
		}
	}
	return active
}

// RevokeCredential revokes a credential and all access tokens that it issued, at once. To
// revoke it again has no effect.
func (e Operator) RevokeCredential(c *state.Credential) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	return e.revoke(c)
}

func (e Operator) revoke(c *state.Credential) error {
	return e.commit(&event.CredentialSet{
		Credential: c.Kind, Owner: c.Owner, OwnerRef: c.Ref, Client: c.Client,
		Hash: c.Hash, Hint: c.Hint, Revoked: true, At: e.opt.Clock.Now(), By: e.by,
	}, nil)
}
