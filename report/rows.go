package report

import (
	"context"
	"database/sql"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// scan reads one row into places; false: there is none.
func (f *file) scan(ctx context.Context, text string, args, places []any) (bool, error) {
	s, err := f.prepared(ctx, text) //nolint:sqlclosecheck // the file closes it
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, args...).Scan(places...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (f *file) lead(ctx context.Context, id market.LeadID) (*lead, error) {
	l := &lead{id: id}
	var currency string
	var auction []byte
	ok, err := f.scan(ctx, "SELECT seq, at, campaign, supplier, buyer, source, state, status, delivery, reason, price, payout, currency, auction, posts, test, erased FROM leads WHERE id = ?",
		[]any{id[:]}, []any{
			&l.seq, &l.at, &l.campaign, &l.supplier, &l.buyer, &l.source, &l.state, &l.status, &l.delivery, &l.reason,
			&l.price, &l.payout, &currency, &auction, &l.posts, &l.test, &l.erased,
		})
	if !ok || err != nil {
		return nil, err
	}
	copy(l.currency[:], currency)
	copy(l.auction[:], auction)
	return l, nil
}

func (f *file) post(ctx context.Context, key postKey) (*post, error) {
	p := &post{postKey: key}
	var currency string
	ok, err := f.scan(ctx, "SELECT seq, at, buyer, price, payout, currency, settlement, settled, attempts, status, fault, elapsed FROM posts WHERE lead = ? AND nth = ?",
		[]any{key.lead[:], key.nth}, []any{
			&p.seq, &p.at, &p.buyer, &p.price, &p.payout, &currency, &p.settlement, &p.settled, &p.attempts, &p.status, &p.fault, &p.elapsed,
		})
	if !ok || err != nil {
		return nil, err
	}
	copy(p.currency[:], currency)
	return p, nil
}

func (f *file) hook(ctx context.Context, key hookKey) (*hook, error) {
	h := &hook{hookKey: key}
	ok, err := f.scan(ctx, "SELECT supplier, caused, outcome, attempts, at, status, fault FROM webhooks WHERE lead = ? AND type = ?",
		[]any{key.lead[:], key.of}, []any{&h.supplier, &h.caused, &h.outcome, &h.attempts, &h.at, &h.status, &h.fault})
	if !ok || err != nil {
		return nil, err
	}
	return h, nil
}

func (f *file) origin(ctx context.Context, id market.AuctionID) (source int64, state string, err error) {
	_, err = f.scan(ctx, "SELECT source, state FROM auctions WHERE id = ?", []any{id[:]}, []any{&source, &state})
	return source, state, err
}

// nameKey is a number that is told by names.
type nameKey struct {
	kind event.NameKind
	ref  market.Ref
}
