package report

import (
	"context"
	"database/sql"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// scanFirstRow runs a query and scans its first row into targets. It returns false if there is
// no row.
func (f *reportDatabase) scanFirstRow(ctx context.Context, query string, args, targets []any) (hasRow bool, err error) {
	s, err := f.prepareCached(ctx, query) //nolint:sqlclosecheck // the file closes it
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, args...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (f *reportDatabase) LoadLeadOrNil(ctx context.Context, id market.LeadID) (*projection.LeadRow, error) {
	l := &projection.LeadRow{ID: id, IsStored: true}
	var currency string
	var auction []byte
	ok, err := f.scanFirstRow(ctx, "SELECT seq, at, campaign, supplier, buyer, source, state, status, delivery, reason, price, payout, currency, auction, posts, test, erased FROM leads WHERE id = ?",
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

func (f *reportDatabase) LoadPostOrNil(ctx context.Context, key projection.PostKey) (*projection.PostRow, error) {
	p := &projection.PostRow{PostKey: key, IsStored: true}
	var currency string
	ok, err := f.scanFirstRow(ctx, "SELECT seq, at, buyer, price, payout, currency, settlement, settled, attempts, status, fault, elapsed FROM posts WHERE lead = ? AND nth = ?",
		[]any{key.Lead[:], key.Number}, []any{
			&p.Seq, &p.At, &p.Buyer, &p.Price, &p.Payout, &currency, &p.Settlement, &p.Settled, &p.Attempts, &p.Status, &p.Fault, &p.Elapsed,
		})
	if !ok || err != nil {
		return nil, err
	}
	copy(p.Currency[:], currency)
	return p, nil
}

func (f *reportDatabase) LoadWebhookOrNil(ctx context.Context, key projection.WebhookKey) (*projection.WebhookRow, error) {
	h := &projection.WebhookRow{WebhookKey: key}
	ok, err := f.scanFirstRow(ctx, "SELECT supplier, caused, outcome, attempts, at, status, fault FROM webhooks WHERE lead = ? AND type = ?",
		[]any{key.Lead[:], key.Type}, []any{&h.Supplier, &h.CausedAt, &h.Outcome, &h.Attempts, &h.At, &h.Status, &h.Fault})
	if !ok || err != nil {
		return nil, err
	}
	return h, nil
}

func (f *reportDatabase) LoadActionOrNil(ctx context.Context, id market.RequestID) (*projection.ActionRow, error) {
	s, err := f.prepareCached(ctx, "SELECT "+actionColumns+" FROM actions WHERE id = ?") //nolint:sqlclosecheck // the file closes it
	if err != nil {
		return nil, err
	}
	a, err := scanAction(s.QueryRowContext(ctx, id[:]))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return a, err
}

func (f *reportDatabase) LoadAuctionSourceAndUSStateOrZero(ctx context.Context, id market.AuctionID) (source int64, state string, err error) {
	_, err = f.scanFirstRow(ctx, "SELECT source, state FROM auctions WHERE id = ?", []any{id[:]}, []any{&source, &state})
	return source, state, err
}

// configObjectKey identifies a configured name: the kind of object and its number.
type configObjectKey struct {
	kind event.ConfigObjectKind
	ref  market.PermanentNumber
}
