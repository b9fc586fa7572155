package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Errors of operators' actions. Callers compare with errors.Is, because the returned errors wrap
// them with details.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("the action is not possible in the present state of its object")

	// ErrNoAccount is returned for a buyer without configured funds.
	ErrNoAccount = errors.New("the buyer has no account")
)

// OperatorActions performs administrative actions. Each event of such an action names the operator who
// caused it.
type OperatorActions struct {
	*Engine
	by string
}

// AsOperator returns the administrative actions in the name of an operator. The name is empty for
// actions of the exchange itself.
func (e *Engine) AsOperator(name string) OperatorActions { return OperatorActions{e, name} }

// RecordAction commits a record of the audit log, in the operator's name. It waits while the log's
// queue is full, because an action without a record must not take effect.
func (e OperatorActions) RecordAction(record *event.OperatorActionRecorded) error {
	record.At, record.By = e.opt.Clock.Now(), e.by
	return e.commitRetryingFullQueue(record, nil)
}

// SetCampaignOrBuyerPaused pauses or resumes a campaign or a buyer. It commits no event if nothing changes.
// ErrNotFound: no campaign or buyer with this id was ever configured.
func (e OperatorActions) SetCampaignOrBuyerPaused(targetKind event.ConfigObjectKind, targetID string, paused bool) error {
	ref := e.state.RefOf(targetKind, targetID)
	if ref == 0 {
		return fmt.Errorf("%w: cannot pause or resume %q, because no campaign or buyer with this id was ever configured", ErrNotFound, targetID)
	}
	if now, _ := e.state.PauseStatus(targetKind, ref); now == paused {
		return nil
	}
	return e.commit(&event.CampaignOrBuyerPausedOrResumed{Target: targetKind, Ref: ref, Paused: paused, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// SetOutgoingSecret creates or replaces a secret that the exchange sends to others, such as a
// buyer's API key. encrypted is the secret in encrypted form.
func (e OperatorActions) SetOutgoingSecret(name string, encrypted []byte) error {
	return e.commit(&event.SecretStoredOrDeleted{Name: name, Sealed: encrypted, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RemoveOutgoingSecret removes a secret that the exchange sends to others, such as a buyer's API key.
// ErrNotFound: no secret has this name.
func (e OperatorActions) RemoveOutgoingSecret(name string) error {
	if _, ok := e.state.SealedSecret(name); !ok {
		return fmt.Errorf("%w: cannot remove the secret %q, because no secret has this name", ErrNotFound, name)
	}
	return e.commit(&event.SecretStoredOrDeleted{Name: name, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// AdjustBuyerFunds adds money to a buyer's account; a negative amount corrects a mistake. ErrNotFound:
// no such buyer was ever configured. ErrNoAccount: the configuration gives the buyer no funds, so its
// spending is not limited.
func (e OperatorActions) AdjustBuyerFunds(buyer market.BuyerID, amount market.Money, note string) error {
	ref := e.state.RefOf(event.ObjectBuyer, string(buyer))
	if ref == 0 {
		return fmt.Errorf("%w: no buyer %q was ever configured", ErrNotFound, buyer)
	}
	if !e.state.AppliedBuyerFunds(ref).Opened {
		return fmt.Errorf("%w: buyer %q has no funds in the configuration, so its spending is not limited; configure funds first", ErrNoAccount, buyer)
	}
	return e.commit(&event.BuyerFundsAdjusted{Buyer: ref, Amount: amount, Note: note, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// ResolveUnconfirmedDelivery ends an unconfirmed delivery, of which the exchange does not know
// whether the buyer has the lead. operatorDecision is the operator's decision: the buyer has the
// lead (SettledConfirmed), does not have it (SettledReleased), or gets the post again
// (SettledResent). The errors:
//
//   - ErrNotFound: the lead has no open delivery.
//   - ErrConflict: attempts are in progress, or the lead cannot be resent because its contact
//     data is erased or unreadable.
func (e OperatorActions) ResolveUnconfirmedDelivery(lead market.LeadID, operatorDecision event.PostSettlement) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	post := e.state.UnfinishedPost(lead)
	if post == nil {
		return fmt.Errorf("%w: lead %s has no open delivery", ErrNotFound, lead)
	}
	if !post.Exhausted {
		return fmt.Errorf("%w: the delivery of lead %s is still in progress", ErrConflict, lead)
	}
	d, err := e.registerDelivery(lead)
	if err != nil {
		return err
	}
	if sendable := d.SetIntentAndDecryptBody(post); !sendable && operatorDecision == event.SettledResent {
		d.UnregisterAndWakeWaiters()
		return fmt.Errorf("%w: lead %s cannot be resent, because its contact data was erased or its key cannot be read; confirm or release it", ErrConflict, lead)
	}
	outcome := d.NewSettlement(operatorDecision)
	outcome.By = e.by
	if operatorDecision == event.SettledReleased {
		outcome.Reason = market.ReasonPostRejected
	}
	d.SetTriggeredWebhook(outcome)
	err = e.commit(outcome, nil)
	if err == nil && operatorDecision == event.SettledConfirmed && !post.Sale.Test {
		e.opt.Observer.SaleSettled(e.state.NameOf(event.ObjectBuyer, post.Sale.Buyer))
	}
	if err != nil || operatorDecision != event.SettledResent {
		d.UnregisterAndWakeWaiters()
		return err
	}
	d.ResendInBackground(e.state.UnfinishedPost(lead))
	return nil
}

// SetAlertSettings replaces the alert settings by a document in JSON.
func (e OperatorActions) SetAlertSettings(document []byte) error {
	return e.commit(&event.AlertSettingsChanged{Document: document, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RecordAlertOrNotificationChange records a change of an alert, or the end of a notification. While the
// log's queue is full, the end of a notification waits: without its record, a restart sends the
// notification again. A change returns ErrBusy, and the next evaluation finds it again.
func (e *Engine) RecordAlertOrNotificationChange(change *event.AlertOrNotificationChanged) error {
	if change.Transition >= event.NotificationSent {
		return e.commitRetryingFullQueue(change, nil)
	}
	return e.commit(change, nil)
}

// SetOrRemoveSavedReport sets a saved report to a document in JSON. An empty document removes it.
func (e OperatorActions) SetOrRemoveSavedReport(id string, document []byte) error {
	return e.commit(&event.SavedReportChanged{ID: id, Document: document, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RecordReportMail records how the e-mail of a saved report ended. It waits while the log's queue is
// full: without the record, a restart sends the e-mail again.
func (e *Engine) RecordReportMail(mail *event.ReportMailEnded) error {
	return e.commitRetryingFullQueue(mail, nil)
}

// InitializeLogOrCheckKey initializes an empty log: it commits a random epoch, which identifies the
// log, and a check value of the exchange's key. On a log that has both, it returns an error if
// the check value differs, because the process runs with another key file.
func (e *Engine) InitializeLogOrCheckKey(exchangeKeyCheck [16]byte) error {
	founded := e.state.FoundedEvent()
	if founded.Epoch == [16]byte{} {
		record := event.ExchangeFounded{KeyCheck: exchangeKeyCheck, At: e.opt.Clock.Now()}
		e.opt.Entropy(record.Epoch[:])
		return e.commit(&record, nil)
	}
	if founded.KeyCheck != exchangeKeyCheck {
		return errors.New("the exchange's key file does not belong to this log; restore the key file that was in use when the log began")
	}
	return nil
}

// LeadAndKeySlot names a lead and the slot of the key that encrypts its contact data. EraseContactData
// gets a list of them.
type LeadAndKeySlot struct {
	Lead market.LeadID
	Slot uint64
}

// EraseContactData makes the contact data of these leads unreadable for ever. It commits the
// erasure and then erases the leads' keys, durably when it returns. After an error some keys may
// still exist; the next call for these leads, or the next start, erases them. Erasing a lead
// twice has no effect.
//
// EraseContactData skips leads with a delivery in progress, because the attempts need the
// contact data, and returns them in skippedInDelivery. It erases a lead with an unconfirmed delivery;
// an operator can then no longer resend that lead.
func (e OperatorActions) EraseContactData(leads []LeadAndKeySlot) (skippedInDelivery []LeadAndKeySlot, err error) {
	e.configuring.Lock() // so that no operator resends a post meanwhile
	defer e.configuring.Unlock()
	record := event.PersonalDataOfLeadsErased{At: e.opt.Clock.Now(), By: e.by}
	slots := make([]uint64, 0, len(leads))
	for _, lead := range leads {
		if lead.Slot == 0 {
			panic("BUG: a lead without a key cannot be erased")
		}
		if post := e.state.UnfinishedPost(lead.Lead); post != nil && !post.Exhausted {
			skippedInDelivery = append(skippedInDelivery, lead)
			continue
		}
		slots = append(slots, lead.Slot)
		if !e.state.IsEncryptionKeySlotErased(lead.Slot) {
			record.Slots, record.Leads = append(record.Slots, lead.Slot), append(record.Leads, lead.Lead)
		}
	}
	if len(record.Slots) > 0 {
		if err := e.commit(&record, nil); err != nil {
			return skippedInDelivery, err
		}
	}
	return skippedInDelivery, e.opt.Sealer.EraseKeys(slots)
}

// eraseKeysOfErasedLeads erases the encryption keys of all leads that were ever erased.
// ResumeErasuresAndDeliveries calls it at the start, because a crash may have interrupted
// EraseContactData, or an operator may have restored an older copy of the keys.
func (e *Engine) eraseKeysOfErasedLeads() error {
	erased := e.state.ErasedEncryptionKeySlots()
	if len(erased) == 0 {
		return nil
	}
	if err := e.opt.Sealer.EraseKeys(erased); err != nil {
		return fmt.Errorf("cannot erase the keys of erased leads: %w", err)
	}
	return nil
}
