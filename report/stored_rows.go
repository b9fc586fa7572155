package report

import (
	"context"
	"database/sql"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// scanRow runs a query and scans its first row into places. It returns false if there is no
// row.
func (f *reportFile) scanRow(ctx context.Context, text string, args, places []any) (bool, error) {
	s, err := f.prepareOnce(ctx, text) //nolint:sqlclosecheck // the file closes it
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, args...).Scan(places...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (f *reportFile) Lead(ctx context.Context, id market.LeadID) (*projection.Lead, error) {
	l := &projection.Lead{ID: id}
	var currency string
	var auction []byte
	ok, err := f.scanRow(ctx, "SELECT seq, at, campaign, supplier, buyer, source, state, status, delivery, reason, price, payout, currency, auction, posts, test, erased FROM leads WHERE id = ?",
		[]any{id[:]}, []any{
			&l.Seq, &l.At, &l.Campaign, &l.Supplier, &l.Buyer, &l.Source, &l.State, &l.Status, &l.Delivery, &l.Reason,
			&l.Price, &l.Payout, &currency, &auction, &l.Posts, &l.Test, &l.Erased,
		})
	if !ok || err != nil {
		return nil, err
	}
	copy(l.Currency[:], currency)
	copy(l.Auction[:], auction)
	return l, nil
}

func (f *reportFile) Post(ctx context.Context, key projection.PostKey) (*projection.Post, error) {
	p := &projection.Post{PostKey: key}
	var currency string
	ok, err := f.scanRow(ctx, "SELECT seq, at, buyer, price, payout, currency, settlement, settled, attempts, status, fault, elapsed FROM posts WHERE lead = ? AND nth = ?",
		[]any{key.Lead[:], key.Number}, []any{
			&p.Seq, &p.At, &p.Buyer, &p.Price, &p.Payout, &currency, &p.Settlement, &p.Settled, &p.Attempts, &p.Status, &p.Fault, &p.Elapsed,
		})
	if !ok || err != nil {
		return nil, err
	}
	copy(p.Currency[:], currency)
	return p, nil
}

func (f *reportFile) Webhook(ctx context.Context, key projection.WebhookKey) (*projection.Webhook, error) {
	h := &projection.Webhook{WebhookKey: key}
	ok, err := f.scanRow(ctx, "SELECT supplier, caused, outcome, attempts, at, status, fault FROM webhooks WHERE lead = ? AND type = ?",
		[]any{key.Lead[:], key.Type}, []any{&h.Supplier, &h.CausedAt, &h.Outcome, &h.Attempts, &h.At, &h.Status, &h.Fault})
	if !ok || err != nil {
		return nil, err
	}
	return h, nil
}

func (f *reportFile) Origin(ctx context.Context, id market.AuctionID) (source int64, state string, err error) {
	_, err = f.scanRow(ctx, "SELECT source, state FROM auctions WHERE id = ?", []any{id[:]}, []any{&source, &state})
	return source, state, err
}

// nameKey identifies a configured name: the kind of object and its number.
type nameKey struct {
	kind event.ObjectKind
	ref  market.Ref
}
