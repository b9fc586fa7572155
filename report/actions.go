package report

import (
	"context"
	"database/sql"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// ActionQuery selects actions of the audit log. A result must match all fields that are set.
type ActionQuery struct {
	Actor      string
	Operation  string // method and route
	TargetKind string
	Target     string
	Credential *event.OperatorCredentialKind
	Text       string // a part of the actor, the operation, the target, the address or the JSON, in any case
	Outcome    string // done, failed or unknown
	From, To   int64  // Unix nanoseconds, To exclusive; zero: no limit
	After      market.RequestID
	Limit      int
}

const actionColumns = "id, seq, at, ended, actor, credential, token, role, address, operation, target_kind, target, request, before, after, result, status, answer, omitted"

// scanAction scans a row with the columns actionColumns.
func scanAction(row interface{ Scan(targets ...any) error }) (*projection.ActionRow, error) {
	a := new(projection.ActionRow)
	var id, answer []byte
	if err := row.Scan(
		&id, &a.Seq, &a.At, &a.Ended, &a.Actor, &a.Credential, &a.Token, &a.Role, &a.Address, &a.Operation, &a.TargetKind, &a.Target,
		&a.Request, &a.Before, &a.After, &a.Result, &a.Status, &answer, &a.Omitted,
	); err != nil {
		return nil, err
	}
	copy(a.ID[:], id)
	copy(a.Answer[:], answer)
	return a, nil
}

// SearchActions returns one page of the audit log, newest first, and the After of the next page, which
// is zero for the last one. The order is that of the log, because ids of one millisecond have none.
// The rows are few: an operator makes far fewer than suppliers send leads.
func (r *Report) SearchActions(ctx context.Context, q *ActionQuery) (found []projection.ActionRow, nextAfter market.RequestID, err error) {
	c := q.condition()
	err = r.readServedDatabase(ctx, q.To, func(ctx context.Context, tx *sql.Tx, _ *databaseProgress) error {
		rows, err := tx.QueryContext(ctx, "SELECT "+actionColumns+" FROM actions WHERE 1"+c.where+" ORDER BY seq DESC LIMIT ?", append(c.args, q.Limit+1)...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			a, err := scanAction(rows)
			if err != nil {
				return err
			}
			found = append(found, *a)
		}
		return rows.Err()
	})
	if err == nil && len(found) > q.Limit {
		found = found[:q.Limit]
		nextAfter = found[q.Limit-1].ID
	}
	return found, nextAfter, err
}

// condition returns the query as SQL conditions.
func (q *ActionQuery) condition() *searchCondition {
	c := new(searchCondition)
	for _, exact := range []struct{ column, value string }{
		{"actor", q.Actor},
		{"operation", q.Operation},
		{"target_kind", q.TargetKind},
		{"target", q.Target},
	} {
		if exact.value != "" {
			c.and(exact.column+" = ?", exact.value)
		}
	}
	if q.Credential != nil {
		c.and("credential = ?", *q.Credential)
	}
	switch q.Outcome {
	case "done":
		c.and("ended > 0 AND status < 400")
	case "failed":
		c.and("ended > 0 AND status >= 400")
	case "unknown":
		c.and("ended = 0")
	}
	if q.Text != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(q.Text) + "%"
		c.and(`actor || char(10) || operation || char(10) || target || char(10) || address || char(10) || request || char(10) || before || char(10) || after || char(10) || result LIKE ? ESCAPE '\'`, pattern)
	}
	// The ids have the computer's time, which may be far from the exchange's, so only the time counts.
	if q.From != 0 {
		c.and("at >= ?", q.From)
	}
	if q.To != 0 {
		c.and("at < ?", q.To)
	}
	if !q.After.IsZero() {
		// Without the row, which retention may have removed, the page begins at an older id.
		c.and("seq < IFNULL((SELECT seq FROM actions WHERE id = ?), (SELECT max(seq) + 1 FROM actions WHERE id < ?))", q.After[:], q.After[:])
	}
	return c
}

// FindLeadsOfPerson returns the leads of a person, newest first, with the log positions of their
// decisions. hash is that of the person's phone number or e-mail address. It begins after
// the lead `after`, or with the newest one if that is zero, and returns at most limit leads.
// completeFromNanos is the time from which on the report has all leads; zero: since the log's
// beginning.
func (r *Report) FindLeadsOfPerson(ctx context.Context, hash projection.ContactHash, after market.LeadID, limit int) (found []LeadOfPerson, completeFromNanos int64, err error) {
	where, args := "p.hash = ?", []any{hash[:]}
	if !after.IsZero() {
		where, args = where+" AND p.lead < ?", append(args, after[:])
	}
	err = r.readServedDatabase(ctx, 0, func(ctx context.Context, tx *sql.Tx, at *databaseProgress) error {
		completeFromNanos = at.begins
		rows, err := tx.QueryContext(ctx, "SELECT "+leadColumns+", seq FROM persons p JOIN leads ON leads.id = p.lead WHERE "+where+
			" ORDER BY p.lead DESC LIMIT ?", append(args, limit)...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var one LeadOfPerson
			if one.FoundLead, err = r.scanLead(rows, &one.Seq); err != nil {
				return err
			}
			found = append(found, one)
		}
		return rows.Err()
	})
	return found, completeFromNanos, err
}

// LeadOfPerson is a lead that FindLeadsOfPerson found, and the log position of its decision.
type LeadOfPerson struct {
	FoundLead

	Seq uint64
}
