package projection

import (
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// ActionRow is a row of the audit log: an operator's action, from its one or two events.
type ActionRow struct {
	ID                             market.RequestID
	Seq                            uint64 // of its first event
	At, Ended                      int64  // Unix nanoseconds; Ended is zero if the log has no end of the action
	Actor                          string
	Credential                     event.OperatorCredentialKind
	Token                          string
	Role                           market.OperatorRole
	Address, Operation             string
	TargetKind, Target             string
	Request, Before, After, Result string // JSON or empty
	Status                         int
	Answer                         market.RequestID
	Omitted                        int
}

// applyOperatorAction adds an action, or the end of an action, to the batch. If the file begins
// between the two events of an action, the row has only the values of the second.
func (b *ChangeBatch) applyOperatorAction(ev *event.OperatorActionRecorded) error {
	row, known := b.Actions[ev.Action]
	if !known && ev.Phase == event.ActionEnded {
		var err error
		if row, err = b.stored.LoadActionOrNil(b.ctx, ev.Action); err != nil {
			return err
		}
	}
	if row == nil {
		row = &ActionRow{ID: ev.Action, Seq: b.Seq, At: ev.At}
	}
	b.Actions[ev.Action] = row
	row.copyNonEmptyTexts(ev)
	row.Credential, row.Role = max(row.Credential, ev.Credential), max(row.Role, ev.Role)
	row.Omitted += int(ev.Omitted)
	if ev.Phase != event.ActionBegun {
		row.Ended, row.Status, row.Answer = ev.At, int(ev.Status), ev.Answer
	}
	b.actionBytes += len(row.Request) + len(row.Before) + len(row.After) + len(row.Result)
	return nil
}

// copyNonEmptyTexts copies the texts of the event that are not empty.
func (a *ActionRow) copyNonEmptyTexts(ev *event.OperatorActionRecorded) {
	for _, text := range []struct {
		to   *string
		from string
	}{
		{&a.Actor, ev.By},
		{&a.Token, ev.Token},
		{&a.Address, ev.Address},
		{&a.Operation, ev.Operation},
		{&a.TargetKind, ev.TargetKind},
		{&a.Target, ev.Target},
		{&a.Request, ev.Request},
		{&a.Before, ev.Before},
		{&a.After, ev.After},
		{&a.Result, ev.Result},
	} {
		if text.from != "" {
			*text.to = strings.Clone(text.from) // the event's memory is used again
		}
	}
}
