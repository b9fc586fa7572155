package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// Credential is one by which a supplier or a buyer shows who it is. The engine
// is given its hash and never itself.
type Credential struct {
	Kind   event.CredentialKind
	Owner  event.NameKind // a supplier or a buyer
	ID     string         // the owner's
	Client string         // of an OAuth client's secret: whose
	Scopes event.Scopes   // none for an API key
	Hash   [32]byte
	Hint   string

	Replaces string // hint of the live secret that this one ends; empty: none
}

// liveSecrets is how many of one client's secrets, or of one supplier's API
// keys, may be good at once: two, so that one can be rotated without a gap.
const liveSecrets = 2

// adding is the fact that adds a credential.
func (e Operator) adding(c *Credential) *event.CredentialSet {
	return &event.CredentialSet{
		Credential: c.Kind, Owner: c.Owner, OwnerRef: e.state.RefOf(c.Owner, c.ID), Client: c.Client,
		Scopes: c.Scopes, Hash: c.Hash, Hint: c.Hint, At: e.opt.Clock.Now(), By: e.by,
	}
}

// RotationError reports that two secrets are live already, and that the new one names
// neither as the one that it replaces.
type RotationError struct {
	Live []state.Credential // oldest first
}

func (e *RotationError) Error() string {
	return fmt.Sprintf("%d secrets are live already; name the one that the new one replaces", len(e.Live))
}

// AddCredential makes a credential good, and revokes the one that it replaces. The revocation
// comes first, so that a crash between the two leaves no third secret. AddCredential returns
// a RotationError where one secret of a client, or one API key, would be too many. A client
// whose name is that of another owner's good one is refused.
func (e Operator) AddCredential(c *Credential) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	fact := e.adding(c)
	if fact.OwnerRef == 0 {
		return fmt.Errorf("%w: no supplier or buyer %q was ever configured", ErrNotFound, c.ID)
	}
	if c.Kind == event.CredentialOAuthClient {
		owner, ref, taken := e.state.OwnerOfClient(c.Client)
		if taken && (owner != fact.Owner || ref != fact.OwnerRef) {
			return fmt.Errorf("%w: the client %q is another's; revoke it there, or choose another name", ErrConflict, c.Client)
		}
	}
	if err := e.foreign(c); err != nil {
		return err
	}
	rivals := e.rivals(fact)
	replaced := slices.IndexFunc(rivals, func(r state.Credential) bool { return c.Replaces != "" && r.Hint == c.Replaces })
	if replaced < 0 && len(rivals) >= liveSecrets {
		return &RotationError{Live: rivals}
	}
	if replaced >= 0 {
		if err := e.revoke(&rivals[replaced]); err != nil {
			return err
		}
	}
	return e.commit(fact, nil)
}

// foreign refuses a credential that opens the exchange to someone else already:
// entered again it would change hands.
func (e *Engine) foreign(c *Credential) error {
	known, ok := e.state.Credential(c.Hash)
	if !ok || (known.Owner == c.Owner && known.Ref == e.state.RefOf(c.Owner, c.ID)) {
		return nil
	}
	return fmt.Errorf("%w: a key, secret or token that is given for %q is %q's already; give each its own",
		ErrConflict, c.ID, e.state.NameOf(known.Owner, known.Ref))
}

// rivals are the live credentials of which a new one may replace one, oldest first.
func (e *Engine) rivals(fact *event.CredentialSet) (rivals []state.Credential) {
	if fact.Credential == event.CredentialBearer {
		return nil // each stands for itself
	}
	for _, c := range e.state.CredentialsOf(fact.Credential, fact.Owner, fact.OwnerRef) {
		if c.Client == fact.Client {
			rivals = append(rivals, c)
		}
	}
	return rivals
}

// RevokeCredential ends a credential at once, and with it every token that was
// given for it. One that is revoked already stays so.
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
