package report

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// writeBatchInTransaction writes a batch and the new position in the log in one transaction.
// After an error f's memory no longer matches the database, so the caller must open it again.
func (f *reportDatabase) writeBatchInTransaction(ctx context.Context, b *projection.ChangeBatch, nameOf func(event.ConfigObjectKind, market.PermanentNumber) string) (err error) {
	if err := f.executeStatement(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.executeStatement(context.WithoutCancel(ctx), "ROLLBACK"))
		}
	}()
	for _, part := range []func(context.Context, *projection.ChangeBatch) error{
		f.writeLeads, f.writePosts, f.writeAuctions, f.writeBids, f.writeWebhooks, f.writeActions, f.writePersonsAndDeleteErased, f.writeReasonSums, f.addBatchSumsToStoredAndOpen,
		func(ctx context.Context, b *projection.ChangeBatch) error { return f.writeNames(ctx, b, nameOf) },
	} {
		if err := part(ctx, b); err != nil {
			return err
		}
	}
	reached := f.position
	if b.Entries > 0 {
		reached.seq, reached.at = b.Seq, b.At
	}
	if err := f.writePosition(ctx, reached); err != nil {
		return err
	}
	if err := f.executeStatement(ctx, "COMMIT"); err != nil {
		return err
	}
	f.position = reached
	f.checkpointer.recordTransaction(b.Entries)
	return nil
}

func (f *reportDatabase) writePosition(ctx context.Context, p databaseProgress) error {
	return f.executeStatement(ctx, "INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?, ?)", p.Exchange[:], p.Epoch, p.seq, p.at, p.begins)
}

func (f *reportDatabase) writeLeads(ctx context.Context, b *projection.ChangeBatch) error {
	newRows, changed := f.newRowWriter(ctx, "leads", 18), f.newRowReplacingWriter(ctx, "leads", 18)
	for _, l := range sortedRows(b.Leads, func(l *projection.LeadRow) uint64 { return l.Seq }) {
		w := newRows
		if l.IsStored {
			w = changed
		}
		if err := w.add(
			l.ID[:], l.Seq, l.At, l.Campaign, l.Supplier, l.Buyer, l.Source, l.State, l.Status, l.Delivery, l.Reason,
			int64(l.Price), int64(l.Payout), l.Currency.String(), idOrNull(l.Auction), l.Posts, l.Test, l.Erased,
		); err != nil {
			return err
		}
	}
	return writeBufferedRowsOfBoth(newRows, changed)
}

// writeBufferedRowsOfBoth stops at the first error: a full disk ends the transaction, so that a later
// statement would be a transaction of its own.
func writeBufferedRowsOfBoth(newRows, changed *tableRowWriter) error {
	if err := newRows.writeBufferedRows(); err != nil {
		return err
	}
	return changed.writeBufferedRows()
}

// sortedRows returns the rows in the order of their first log entries, which is nearly that of their
// ids: SQLite then fills one page after the other.
func sortedRows[K comparable, R any](rows map[K]*R, firstEntry func(*R) uint64) []*R {
	sorted := make([]*R, 0, len(rows))
	for _, row := range rows {
		if row != nil {
			sorted = append(sorted, row)
		}
	}
	slices.SortFunc(sorted, func(a, b *R) int { return cmp.Compare(firstEntry(a), firstEntry(b)) })
	return sorted
}

func idOrNull[ID ~[16]byte](id ID) any {
	if id == (ID{}) {
		return nil
	}
	return id[:]
}

func (f *reportDatabase) writePosts(ctx context.Context, b *projection.ChangeBatch) error {
	newRows, changed := f.newRowWriter(ctx, "posts", 14), f.newRowReplacingWriter(ctx, "posts", 14)
	for _, p := range sortedRows(b.Posts, func(p *projection.PostRow) uint64 { return p.Seq }) {
		w := newRows
		if p.IsStored {
			w = changed
		}
		if err := w.add(
			p.Lead[:], p.Number, p.Seq, p.At, p.Buyer, int64(p.Price), int64(p.Payout), p.Currency.String(),
			p.Settlement, p.Settled, p.Attempts, p.Status, p.Fault, p.Elapsed,
		); err != nil {
			return err
		}
	}
	return writeBufferedRowsOfBoth(newRows, changed)
}

func (f *reportDatabase) writeAuctions(ctx context.Context, b *projection.ChangeBatch) error {
	w := f.newRowWriter(ctx, "auctions", 11)
	for i := range b.Auctions {
		a := &b.Auctions[i]
		if err := w.add(a.ID[:], a.Seq, a.At, idOrNull(a.Lead), a.Campaign, a.Supplier, a.Source, a.State, a.Reason, a.Asked, a.Test); err != nil {
			return err
		}
	}
	return w.writeBufferedRows()
}

func (f *reportDatabase) writeBids(ctx context.Context, b *projection.ChangeBatch) error {
	w := f.newRowWriter(ctx, "bids", 10)
	for i := range b.Bids {
		of := &b.Bids[i].Bid
		if err := w.add(
			b.Bids[i].Auction[:], of.FilterSet, of.Buyer, of.Outcome, of.Elapsed,
			int64(of.Amount), int64(of.Payout), of.Currency.String(), of.Status, of.Fault,
		); err != nil {
			return err
		}
	}
	return w.writeBufferedRows()
}

func (f *reportDatabase) writeWebhooks(ctx context.Context, b *projection.ChangeBatch) error {
	w := f.newRowReplacingWriter(ctx, "webhooks", 9)
	for _, h := range b.Webhooks {
		if err := w.add(h.Lead[:], h.Type, h.Supplier, h.CausedAt, h.Outcome, h.Attempts, h.At, h.Status, h.Fault); err != nil {
			return err
		}
	}
	return w.writeBufferedRows()
}

// writeNames writes the new lead sources, and those names of the suppliers, buyers and campaigns in
// this batch's sums that the database lacks. The names of the latter are for other programs that read
// the database.
func (f *reportDatabase) writeNames(ctx context.Context, b *projection.ChangeBatch, nameOf func(event.ConfigObjectKind, market.PermanentNumber) string) error {
	ids, first := b.Sources.TakeUnwrittenSources()
	for i, id := range ids {
		if err := f.executeStatement(ctx, "INSERT INTO sources VALUES (?, ?)", first+int64(i), id); err != nil {
			return err
		}
	}
	for c := range b.Sums {
		for _, key := range []configObjectKey{{event.ObjectSupplier, c.Supplier}, {event.ObjectBuyer, c.Buyer}, {event.ObjectCampaign, c.Campaign}} {
			if key.ref == 0 || f.names[key] {
				continue
			}
			if err := f.executeStatement(ctx, "INSERT OR REPLACE INTO names VALUES (?, ?, ?)", key.kind, key.ref, nameOf(key.kind, key.ref)); err != nil {
				return err
			}
			f.names[key] = true
		}
	}
	return nil
}

func (f *reportDatabase) writeReasonSums(ctx context.Context, b *projection.ChangeBatch) error {
	w := f.newSumAddingWriter(ctx, reasonTable, reasonKeyColumns, reasonSumColumns)
	for y, n := range b.NonSaleReasonCounts() {
		if err := w.add(y.Unit, y.Start, y.Campaign, y.Supplier, y.Buyer, y.Reason, n[0], n[1], n[2]); err != nil {
			return err
		}
	}
	return w.writeBufferedRows()
}

func (f *reportDatabase) writeActions(ctx context.Context, b *projection.ChangeBatch) error {
	w := f.newRowReplacingWriter(ctx, "actions", 19)
	for _, a := range b.Actions {
		if err := w.add(
			a.ID[:], a.Seq, a.At, a.Ended, a.Actor, a.Credential, a.Token, a.Role, a.Address, a.Operation, a.TargetKind, a.Target,
			a.Request, a.Before, a.After, a.Result, a.Status, idOrNull(a.Answer), a.Omitted,
		); err != nil {
			return err
		}
	}
	return w.writeBufferedRows()
}

// writePersonsAndDeleteErased writes the hashes of persons, and then deletes those of erased leads.
func (f *reportDatabase) writePersonsAndDeleteErased(ctx context.Context, b *projection.ChangeBatch) error {
	slices.SortFunc(b.Persons, func(a, b projection.PersonRow) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) // like the table's pages
	w := f.newRowWriter(ctx, "persons", 2)
	for i := range b.Persons {
		if err := w.add(b.Persons[i].Hash[:], b.Persons[i].Lead[:]); err != nil {
			return err
		}
	}
	if err := w.writeBufferedRows(); err != nil {
		return err
	}
	for i := range b.ErasedPersons {
		if err := f.executeStatement(ctx, "DELETE FROM persons WHERE lead = ?", b.ErasedPersons[i][:]); err != nil {
			return err
		}
	}
	return nil
}
