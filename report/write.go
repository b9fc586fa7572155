package report

import (
	"context"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// write puts a batch into the file, with the entry that it reaches, as one transaction.
// After an error the file's memory is no longer what the file has: it is opened anew.
func (f *file) write(ctx context.Context, b *batch, nameOf func(event.NameKind, market.Ref) string) (err error) {
	if err := f.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.exec(context.WithoutCancel(ctx), "ROLLBACK"))
		}
	}()
	for _, part := range []func(context.Context, *batch) error{
		f.writeLeads, f.writePosts, f.writeAuctions, f.writeBids, f.writeHooks, f.writeWhys, f.writeSums,
		func(ctx context.Context, b *batch) error { return f.writeNames(ctx, b, nameOf) },
	} {
		if err := part(ctx, b); err != nil {
			return err
		}
	}
	reached := f.place
	if b.n > 0 {
		reached.seq, reached.at = b.seq, b.at
	}
	if err := f.writePlace(ctx, reached); err != nil {
		return err
	}
	if err := f.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	f.place = reached
	f.settler.wrote(b.n)
	return nil
}

func (f *file) writePlace(ctx context.Context, p place) error {
	return f.exec(ctx, "INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?, ?)", p.Exchange[:], p.Epoch, p.seq, p.at, p.begins)
}

func (f *file) writeLeads(ctx context.Context, b *batch) error {
	w := f.rowsOf(ctx, "leads", 18)
	for _, l := range b.leads {
		if l == nil {
			continue
		}
		if err := w.add(
			l.id[:], l.seq, l.at, l.campaign, l.supplier, l.buyer, l.source, l.state, l.status, l.delivery, l.reason,
			int64(l.price), int64(l.payout), l.currency.String(), idOrNull(l.auction), l.posts, l.test, l.erased,
		); err != nil {
			return err
		}
	}
	return w.done()
}

func idOrNull[ID ~[16]byte](id ID) any {
	if id == (ID{}) {
		return nil
	}
	return id[:]
}

func (f *file) writePosts(ctx context.Context, b *batch) error {
	w := f.rowsOf(ctx, "posts", 14)
	for _, p := range b.posts {
		if p == nil {
			continue
		}
		if err := w.add(
			p.lead[:], p.nth, p.seq, p.at, p.buyer, int64(p.price), int64(p.payout), p.currency.String(),
			p.settlement, p.settled, p.attempts, p.status, p.fault, p.elapsed,
		); err != nil {
			return err
		}
	}
	return w.done()
}

func (f *file) writeAuctions(ctx context.Context, b *batch) error {
	w := f.rowsOf(ctx, "auctions", 11)
	for i := range b.auctions {
		a := &b.auctions[i]
		if err := w.add(a.id[:], a.seq, a.at, idOrNull(a.lead), a.campaign, a.supplier, a.source, a.state, a.reason, a.asked, a.test); err != nil {
			return err
		}
	}
	return w.done()
}

func (f *file) writeBids(ctx context.Context, b *batch) error {
	w := f.rowsOf(ctx, "bids", 10)
	for i := range b.bids {
		of := &b.bids[i].of
		if err := w.add(
			b.bids[i].auction[:], of.FilterSet, of.Buyer, of.Outcome, of.Elapsed,
			int64(of.Amount), int64(of.Payout), of.Currency.String(), of.Status, of.Fault,
		); err != nil {
			return err
		}
	}
	return w.done()
}

func (f *file) writeHooks(ctx context.Context, b *batch) error {
	w := f.rowsOf(ctx, "webhooks", 9)
	for _, h := range b.hooks {
		if err := w.add(h.lead[:], h.of, h.supplier, h.caused, h.outcome, h.attempts, h.at, h.status, h.fault); err != nil {
			return err
		}
	}
	return w.done()
}

// writeNames tells what the numbers of this batch's cells mean, to who opens the file
// with other programs.
func (f *file) writeNames(ctx context.Context, b *batch, nameOf func(event.NameKind, market.Ref) string) error {
	for i, id := range b.sources.fresh {
		ref := len(b.sources.refs) - len(b.sources.fresh) + i + 1
		if err := f.exec(ctx, "INSERT INTO sources VALUES (?, ?)", ref, id); err != nil {
			return err
		}
	}
	b.sources.fresh = nil
	for c := range b.fine {
		for _, key := range []nameKey{{event.NameSupplier, c.supplier}, {event.NameBuyer, c.buyer}, {event.NameCampaign, c.campaign}} {
			if key.ref == 0 || f.names[key] {
				continue
			}
			if err := f.exec(ctx, "INSERT OR REPLACE INTO names VALUES (?, ?, ?)", key.kind, key.ref, nameOf(key.kind, key.ref)); err != nil {
				return err
			}
			f.names[key] = true
		}
	}
	return nil
}
