package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// What an operator asks for and cannot have.
var (
	ErrNotFound = errors.New("there is no such thing")
	ErrConflict = errors.New("that cannot be done as things stand")

	// ErrNoAccount is returned for a buyer whose money is not limited.
	ErrNoAccount = errors.New("the buyer has no account")
)

// Operator is someone who steers the exchange: each of these verbs says in its fact
// who that was.
type Operator struct {
	*Engine
	by string
}

// By is the engine in the hands of an operator of this name; empty: nobody's.
func (e *Engine) By(name string) Operator { return Operator{e, name} }

// Pause shuts a campaign or a buyer, or opens it again.
func (e Operator) Pause(door event.NameKind, id string, paused bool) error {
	ref := e.state.RefOf(door, id)
	if ref == 0 {
		return fmt.Errorf("%w: no campaign or buyer %q was ever configured", ErrNotFound, id)
	}
	if now, _ := e.state.Paused(door, ref); now == paused {
		return nil
	}
	return e.commit(&event.PauseSet{Target: door, Ref: ref, Paused: paused, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// SetSecret replaces a secret that the exchange presents.
func (e Operator) SetSecret(name string, sealed []byte) error {
	return e.commit(&event.SecretSet{Name: name, Sealed: sealed, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// DropSecret forgets a secret that the exchange presents. ErrNotFound: there is
// none of this name.
func (e Operator) DropSecret(name string) error {
	if _, ok := e.state.Secret(name); !ok {
		return fmt.Errorf("%w: no secret %q is kept", ErrNotFound, name)
	}
	return e.commit(&event.SecretSet{Name: name, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// TopUp adds to a buyer's money.
func (e Operator) TopUp(buyer market.BuyerID, amount market.Money, note string) error {
	ref := e.state.RefOf(event.NameBuyer, string(buyer))
	if ref == 0 {
		return fmt.Errorf("%w: no buyer %q was ever configured", ErrNotFound, buyer)
	}
	if !e.state.HasOpeningBalance(ref) {
		return fmt.Errorf("%w: buyer %q has no funds in the configuration, so its money is not limited; give it funds first", ErrNoAccount, buyer)
	}
	return e.commit(&event.FundsMoved{Buyer: ref, Amount: amount, Note: note, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// Resolve is an operator's word on a delivery whose fate is unknown: the buyer
// has the lead (SettledConfirmed), has it not (SettledReleased), or it is to be
// sent again (SettledResent).
func (e Operator) Resolve(lead market.LeadID, how event.Settlement) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	post := e.state.OpenPost(lead)
	if post == nil {
		return fmt.Errorf("%w: lead %s has no open delivery", ErrNotFound, lead)
	}
	if !post.Exhausted {
		return fmt.Errorf("%w: the delivery of lead %s is still being tried", ErrConflict, lead)
	}
	c, err := e.couriers.open(e.Engine, lead)
	if err != nil {
		return err
	}
	if c.take(post); c.lost && how == event.SettledResent {
		close(c.answered)
		e.couriers.close(c)
		return fmt.Errorf("%w: of lead %s there is nothing left to send: its person was erased, or its key cannot be read; confirm or release it", ErrConflict, lead)
	}
	fact := c.settlement(how)
	fact.By = e.by
	if how == event.SettledReleased {
		fact.Reason = market.ReasonPostRejected
	}
	c.selectWebhook(fact)
	err = e.commit(fact, nil)
	close(c.answered)
	if err != nil || how != event.SettledResent {
		e.couriers.close(c)
		return err
	}
	c.take(e.state.OpenPost(lead))
	c.doubtful = true
	e.goOn(c)
	return nil
}

// Found begins an empty log: it names the exchange's epoch and checks the key
// that its hashes are made with. On a log that has been begun it only checks.
func (e *Engine) Found(keyCheck [16]byte) error {
	founded := e.state.Founded()
	if founded.Epoch == [16]byte{} {
		fact := event.Founded{KeyCheck: keyCheck, At: e.opt.Clock.Now()}
		e.opt.Entropy(fact.Epoch[:])
		return e.commit(&fact, nil)
	}
	if founded.KeyCheck != keyCheck {
		return errors.New("the exchange's key file is not the one that this log was begun with; put the right one back")
	}
	return nil
}
